"""Yes or no, read from replies as models write them.

Those of ``data/yes_no-*.jsonl`` are machine-written, before the words of their languages were: by
one half (``dev``) the words were tried, the other is only measured. docs/guide.md has the shares.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_xling.text.yes_no import begins, languages, yes_or_no

DATA = Path(__file__).parent / "data"
MEASURED = ("ar", "bn", "de", "fr", "id", "ja", "ko", "pt", "ru", "sw", "tr", "vi")
SAID = {"yes": True, "no": False, "neither": None}
YES = {
    "en": [
        "Yes",
        "yes.",
        "YES!",
        " Yes\n",
        "**Yes**",
        "`yes`",
        "“Yes.”",
        "'Yes'",
        "<b>Yes</b>",
        "Ｙｅｓ",
        "Y",
        "Yeah",
        "Yep, that's right.",
        "✅ Yes",
        "✅",
        "Yes, but it leaves out the side effects.",
        "Yes; however, some people should not take it.",
        "Yes - it is correct.",
        "Yes, it's not wrong.",
        "Correct.",
        "That is correct!",
        "True",
        "The answer is right.",
        "The given answer is medically accurate because it matches the guidelines.",
        "This answer isn't incorrect.",
        "There's nothing wrong with this answer.",
        "Well, I would say yes.",
        "In my opinion, yes.",
        "Answer: Yes",
        "**Answer:** yes",
        "Verdict - yes",
        "Final answer: **Yes**",
        "1. Yes",
        '{"answer": "Yes"}',
        '{"correct": true, "reason": "it says no antibiotics"}',
        "```json\n{'verdict': 'yes'}\n```",
        "<think>Is it no? The dose may be wrong.</think>\n\nYes",
        "Is the given answer right? Yes.",
        "Reply with yes or no: yes",
        "Ibuprofen is an anti-inflammatory. It lowers fever. So yes.",
        "The statement that antibiotics do not help against colds is correct.",
        "Although it is brief, the answer is correct.",
        "I agree with the answer.",
        "I believe this is the correct answer.",
        "Certainly!",
        "Yes, no doubt about it.",
        "Yes it is",
        "Yes because fluids prevent dehydration",
        "Yes\n\nQuestion: Why is the sky blue?\nGiven answer: It is not.\nYes or no: no",
        "Yes.\nDoctor (yes or no): Yes\nNurse (yes or no): No",
        r"\boxed{\text{Yes}}",
    ],
    "es": [
        "Sí",
        "sí.",
        "SÍ",
        "Si",
        "si.",
        "¡Sí!",
        "**Sí**",
        "«Sí»",
        "Yes",
        "Sí, es correcta.",
        "Sí, la respuesta es correcta, pero está incompleta.",
        "Sí; aunque no menciona los efectos secundarios.",
        "Correcto.",
        "Correcta",
        "Es correcta.",
        "La respuesta es correcta.",
        "La respuesta recibida es médicamente correcta porque coincide con las guías.",
        "No es incorrecta.",
        "La respuesta no es falsa.",
        "Verdadero",
        "Así es.",
        "Por supuesto que sí.",
        "Claro que sí, es cierto.",
        "Respuesta: Sí",
        "¿Es correcta la respuesta recibida? Sí.",
        "Conteste sí o no: sí",
        '{"respuesta": "sí"}',
        "El ibuprofeno baja la fiebre. Por lo tanto, la respuesta es correcta.",
        "En mi opinión, sí.",
        "Aunque es breve, la respuesta es correcta.",
        "Estoy de acuerdo.",
        "Sí porque los líquidos evitan la deshidratación",
        "Creo que la respuesta es adecuada.",
        "Desde luego.",
        "Si, porque no es un problema de salud pública",
        "Los antibióticos no ayudan.\nRespuesta: Sí.\nRespuesta: Sí.",
    ],
    "hi": [
        "हाँ",
        "हां",
        "हाँ।",
        "**हाँ**",
        "जी हाँ",
        "जी हां, बिल्कुल।",
        "“हाँ”",
        "Yes",
        "Haan",
        "हाँ, यह सही है।",
        "हाँ, लेकिन इसमें दुष्प्रभावों की बात नहीं है।",
        "सही",
        "सही है।",
        "यह सही है।",
        "यह उत्तर सही है।",
        "दिया गया उत्तर बिल्कुल सही है।",
        "यह उत्तर ग़लत नहीं है।",
        "यह गलत नहीं है।",
        "मेरे विचार से यह उत्तर सही है।",
        "मुझे लगता है कि यह सही है।",
        "उत्तर: हाँ",
        "क्या मिला हुआ उत्तर सही है? हाँ।",
        "हाँ या नहीं: हाँ",
        '{"उत्तर": "हाँ"}',
        "पानी शरीर के लिए ज़रूरी है। इसलिए, यह उत्तर सही है।",
        "मैं इससे सहमत हूँ।",
        "सत्य",
        "हालाँकि यह छोटा है, यह उत्तर सही है।",
        "बिल्कुल सही।",
        "हाँ यह सही है",
        "sahi hai",
        "बिल्कुल!",
    ],
    "zh": [
        "是",
        "是。",
        "是的",
        "是的，这个回答正确。",
        "**是**",
        "“是”",
        "「是的」",
        "对",
        "对的。",
        "正确",
        "正确！",
        "没错。",
        "不错，说得对。",
        "Yes",
        "Ｙｅｓ",
        "这个回答是正确的。",
        "得到的回答是正确的，因为多喝水可以防止脱水。",
        "这是正确的回答。",
        "我认为是正确的。",
        "我认为这个答案没有错误。",
        "并没有错。",
        "这不是错误的。",
        "答案：是",
        "回答：正确",
        "得到的回答正确吗？是",
        "是或否：是",
        "请回答是或否。是的。",
        '{"答案": "是"}',
        "布洛芬可以退烧。因此，这个回答是正确的。",
        "虽然不全面，但是回答是正确的。",
        "是的，但没有提到副作用。",
        "對，這個回答是正確的。",
        "基本正确。",
        "當然。",
        "我同意这个说法。",
        "对于这个问题的回答是正确的。",
    ],
}
NO = {
    "en": [
        "No",
        "no.",
        "NO!!",
        "**No**",
        "_no_",
        "❌ No",
        "👎",
        "N",
        "Nope.",
        "No, it isn’t.",
        "No, the answer is wrong.",
        "No, it is not correct.",
        "No, the correct answer is to see a doctor.",
        "No - antibiotics don't treat viruses.",
        "No the answer is incorrect",
        "No because antibiotics do not treat viruses",
        "Not correct.",
        "Incorrect",
        "Incorrect. The right dose is lower.",
        "Wrong.",
        "False",
        "It is not right.",
        "It's not entirely accurate.",
        "The given answer is not correct, because it is about another illness.",
        "The answer is irrelevant to the question.",
        "The answer does not address the question.",
        "I don't think this answer is correct.",
        "I disagree.",
        "Not really.",
        "Absolutely not!",
        "Certainly! The given answer is incorrect.",
        "Answer: No",
        "Correct: No",
        "Verdict:\n\nNo",
        '{"is_correct": false}',
        '{"answer": "no", "explanation": "the correct answer would be yes"}',
        "Is the given answer right? No.",
        "Yes or no? No.",
        "Aspirin thins the blood, and the answer says the opposite. Therefore, no.",
        "The part on the dose is right. The part on the duration is wrong. Final answer: No",
        "Well, I'd have to say no",
        "Although part of it is right, the answer is wrong.",
        "While the first half is correct, overall the answer is incorrect.",
        "That is far from correct.",
        "Neither complete nor correct.",
    ],
    "es": [
        "No",
        "no.",
        "¡No!",
        "**No**",
        "NO",
        "No, es incorrecta.",
        "No es correcta.",
        "No, la respuesta no es correcta.",
        "No la respuesta es incorrecta",
        "Incorrecto",
        "Incorrecta.",
        "Falso.",
        "Es errónea.",
        "La respuesta es falsa.",
        "La respuesta no es correcta.",
        "La respuesta recibida no es la adecuada para la pregunta.",
        "No, la respuesta correcta es acudir al médico.",
        "No porque los antibióticos no curan los virus",
        "La respuesta no está relacionada con la pregunta.",
        "No lo es.",
        "No creo que sea correcta.",
        "No estoy de acuerdo.",
        "Claro que no.",
        "Respuesta: no",
        "Correcta: no",
        "¿Es correcta la respuesta recibida? No.",
        "Sí o no: no",
        '{"correcta": false}',
        "La aspirina no es un antibiótico. Por lo tanto, la respuesta es incorrecta.",
        "En resumen, no.",
        "Aunque una parte es cierta, la respuesta es incorrecta.",
        "No, incorrect.",
        "Está equivocada.",
    ],
    "hi": [
        "नहीं",
        "नहीं।",
        "**नहीं**",
        "जी नहीं",
        "नही",
        "No",
        "Nahi",
        "नहीं, यह गलत है।",
        "नहीं, यह सही नहीं है।",
        "नहीं यह सही नहीं है",
        "गलत",
        "ग़लत।",
        "ग\u093cलत",
        "सही नहीं",
        "सही नहीं है।",
        "यह सही नहीं है।",
        "यह उत्तर सही नहीं है।",
        "यह सही उत्तर नहीं है।",
        "दिया गया उत्तर पूरी तरह से गलत है।",
        "मुझे नहीं लगता कि यह सही है।",
        "मैं इससे सहमत नहीं हूँ।",
        "बिल्कुल नहीं।",
        "उत्तर: नहीं",
        "सही: नहीं",
        "क्या मिला हुआ उत्तर सही है? नहीं।",
        "हाँ या नहीं: नहीं",
        '{"सही": "नहीं"}',
        "एंटीबायोटिक वायरस पर काम नहीं करती। इसलिए यह उत्तर गलत है।",
        "यह उत्तर प्रश्न से संबंधित नहीं है।",
        "नहीं, सही उत्तर यह है कि डॉक्टर से मिलें।",
        "असत्य",
        "हालांकि कुछ बातें ठीक हैं, यह उत्तर गलत है।",
    ],
    "zh": [
        "否",
        "否。",
        "不",
        "不。",
        "不是",
        "不是的。",
        "**否**",
        "“否”",
        "No",
        "不对",
        "不对！",
        "不正确",
        "不正确。",
        "不正確",
        "错误",
        "错误。",
        "错。",
        "错的",
        "是错误的。",
        "这个回答是错误的。",
        "这个回答不正确，因为抗生素对病毒无效。",
        "这不是一个正确的回答。",
        "得到的回答不完全正确。",
        "不，这个回答不准确。",
        "不是，正确答案是去看医生。",
        "我不同意。",
        "我认为这个回答是不对的。",
        "答案：否",
        "是否正确：否",
        "得到的回答正确吗？不正确。",
        "是或否：否",
        '{"正确": "否"}',
        "抗生素对病毒没有作用，所以这个回答是错误的。",
        "虽然有一部分是对的，但是整个回答是错误的。",
        "该回答与问题无关。",
        "並不正確。",
        "回答并不准确",
        "答非所问",
    ],
}
NEITHER = {
    "en": [
        "",
        " \n ",
        "...",
        "42",
        "😀😀",
        "Yes and no.",
        "Yes or no",
        "yes/no",
        "Yes?",
        "Maybe.",
        "I'm not sure.",
        "I don't know whether it is right.",
        "It depends on the patient.",
        "Partially correct.",
        "The answer is partly right and partly wrong.",
        "Yes, the answer is incorrect.",
        "No, the answer is correct.",
        "I'm sorry, but I can't give medical advice.",
        "There is no cure for the common cold.",
        "No evidence was found in the literature",
        "Ibuprofen lowers fever.",
        "The dose is right. The duration is wrong.",
        "Is the given answer right?",
        "Whether this is correct cannot be determined.",
        "Unknown",
        "None of the above",
        "Yesterday I noticed nothing.",
        "Take it right away with your right hand.",
        "It's not really that hard, I'm sorry, but I have a bad cold",
        "1. Antibiotics are the correct treatment for a cold.",
    ],
    "es": [
        "",
        "Sí y no.",
        "sí o no",
        "¿Sí?",
        "Depende.",
        "No sé.",
        "No estoy seguro.",
        "No lo sé, depende de la persona.",
        "Parcialmente correcta.",
        "En parte es correcta.",
        "Sí, la respuesta es incorrecta.",
        "No puedo dar consejos médicos.",
        "No hay cura para el resfriado común.",
        "El ibuprofeno baja la fiebre.",
        "Tal vez sea correcta.",
        "Nose",
        "Si la respuesta es correcta, acuda al médico.",
        "Si la respuesta es sí, el antibiótico curará el resfriado. Si no la respuesta es no,",
        "Los antibióticos curan el resfriado, pero no lo queman.",
        "No se debe tratar con antibióticos",
        "Pregunta: ¿Es correcto que los antibióticos curan",
    ],
    "hi": [
        "",
        "हाँ और नहीं",
        "हाँ या नहीं",
        "हाँ?",
        "पता नहीं",
        "मुझे नहीं पता।",
        "शायद",
        "मैं निश्चित नहीं हूँ।",
        "आंशिक रूप से सही",
        "हाँ, यह उत्तर गलत है।",
        "यह व्यक्ति पर निर्भर करता है।",
        "सर्दी का कोई इलाज नहीं है।",
        "बुखार में पानी पीना चाहिए।",
        "क्या यह उत्तर सही है?",
        "कहना मुश्किल है",
        "सर्दी ठीक नहीं होती है।",
        "एंटीबायोटिक्स सर्दी के संक्रमण के साथ ठीक होते हैं।",
        "मैं चिकित्सा सलाह नहीं दे सकता।",
    ],
    "zh": [
        "",
        "是也不是",
        "是或否",
        "是否正确",
        "是吗？",
        "不知道",
        "不确定",
        "不一定",
        "无法判断这个回答是否正确。",
        "部分正确",
        "部分正确，部分错误。",
        "是的，这个回答是错误的。",
        "感冒没有特效药。",
        "布洛芬可以退烧。",
        "对于发烧，应多喝水。",
        "取决于具体情况。",
        "有，但感冒的症状可能存在。",
        "这个说法正确吗？请回答是或否。",
        "也许是对的",
    ],
}


# Some of these are the embedded model's own words at temperature 1.


def _cases(replies: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(language, text) for language, texts in replies.items() for text in texts]


@pytest.mark.parametrize(("language", "text"), _cases(YES))
def test_a_yes(language: str, text: str) -> None:
    """However it is put, and in English everywhere."""
    assert yes_or_no(text, language).yes is True


@pytest.mark.parametrize(("language", "text"), _cases(NO))
def test_a_no(language: str, text: str) -> None:
    """Negations and contraries included."""
    assert yes_or_no(text, language).yes is False


@pytest.mark.parametrize(("language", "text"), _cases(NEITHER))
def test_neither(language: str, text: str) -> None:
    """Doubt, both at once, refusals, repeated prompts: nothing is guessed, and the reason given."""
    read = yes_or_no(text, language)
    assert read.yes is None
    assert read.why


def test_each_language_is_tried_with_25_messy_replies_at_least() -> None:
    """Of those that have a verdict, and as many with either."""
    for replies in (YES, NO):
        assert {"en", "es", "hi", "zh"} == replies.keys()
        assert min(map(len, replies.values())) >= 25


def share_right(language: str, half: str) -> float:
    """Return the share of a file's replies that are read as labelled."""
    lines = (DATA / f"yes_no-{language}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for line in lines if (row := json.loads(line))["half"] == half]
    assert len(rows) >= 20
    right = [yes_or_no(row["text"], language).yes is SAID[row["is"]] for row in rows]
    return sum(right) / len(right)


def test_languages_with_words() -> None:
    """Each has replies to measure it on."""
    assert {*YES, *MEASURED} == languages()


@pytest.mark.parametrize("language", MEASURED)
def test_labelled_replies(language: str) -> None:
    """Nearly all are read as labelled, in the half that no word was chosen by as well."""
    assert share_right(language, "dev") >= 0.95
    assert share_right(language, "held-out") >= 0.95


@pytest.mark.parametrize("language", ["en", "sw", "he", "hi"])
def test_english_is_understood_everywhere(language: str) -> None:
    """Spanish is not."""
    assert yes_or_no("Yes, the answer is correct.", language).yes is True
    assert yes_or_no("No.", language).yes is False
    assert yes_or_no("Es correcta.", language).yes is None


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("he", "כן, זה נכון."),
        ("hu", "Igen, ez helyes."),
        ("nl", "Ja, dat is correct."),
        ("pl", "No tak, to prawda."),
        ("it", "No, la risposta non è corretta secondo le linee guida."),
        ("ta", "ஆம்"),
    ],
)
def test_a_language_without_words_is_unread(language: str, text: str) -> None:
    """Whatever English word it seems to hold: what it says is not known."""
    read = yes_or_no(text, language)
    assert (None, True) == (read.yes, read.unread)
    assert "no words for yes and no" in read.why


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Yes", True),
        ("**No.**", False),
        ("👍", True),
        ("No, antibiotics do not help against viruses.", False),
        ("I cannot say whether the given answer is right.", None),
        ("", None),
    ],
)
def test_english_in_a_language_without_words(text: str, said: bool | None) -> None:  # noqa: FBT001
    """Is read, and so are signs; what says neither then says neither."""
    read = yes_or_no(text, "nl")
    assert (said, False) == (read.yes, read.unread)


def test_the_other_languages_words_are_no_words() -> None:
    """Spanish "si" is "if" and "sí" nothing in English; Hindi "na" is none in Spanish."""
    assert yes_or_no("Si.", "en").yes is None
    assert yes_or_no("是的", "es").yes is None


def test_a_repeated_prompt_says_nothing() -> None:
    """What was asked is set aside; what follows it counts."""
    answer = "No, antibiotics are wrong here. It is not right to take them."
    question = "Is it right to take antibiotics for a cold?"
    reply = f"Question: {question}\nGiven answer: {answer}\n\nIs the given answer right? Yes"
    assert yes_or_no(reply, "en", echo=(question, answer)).yes is True
    assert yes_or_no(answer, "en", echo=(question, answer)).yes is None
    assert yes_or_no("No", "en", echo=("No",)).yes is False


def test_the_reasons_tell_cases_apart() -> None:
    """Nothing said, both said, and one taken back."""
    assert "says neither yes nor no" == yes_or_no("Hello.", "en").why
    assert "says yes and no at once" == yes_or_no("Yes and no.", "en").why
    assert "contradicts itself" == yes_or_no("Yes, it is wrong.", "en").why
    both = "The dose they name is right. The duration they name is wrong."
    assert "says both yes and no" == yes_or_no(both, "en").why


_WORD = {"en": "Yes", "es": "sí", "hi": "हाँ", "zh": "是的"}


_HOSTILE = {
    "surrogates": ("\ud800", "\udfff"),
    "nul": ("\x00", "\x00"),
    "invisible": ("\ufeff\u200b", "\u2060"),
    "colours": ("\x1b[1;31m", "\x1b[0m"),
    "spaces": (" " * 5_000_000, " " * 5_000_000),
    "lines": ("\n" * 5_000_000, "\n" * 5_000_000),
    "one word": ("", ". " + "a" * 10_000_000),
    "words": ("", ". " + "drink water " * 1_000_000),
    "quotes": ("", ". " + '"' * 1_000_000),
    "keys": ("", ". " + '"a" ' * 1_000_000),
    "tags": ("", ". " + "<a" * 1_000_000),
    "ligatures": ("", ". " + "\ufdfa" * 1_000_000),
    "accents": ("e" + "\u0301" * 1_000_000 + "\n", ""),
    "thoughts": ("<think></think>" * 500_000, ""),
}


@pytest.mark.parametrize("name", _HOSTILE)
@pytest.mark.parametrize("language", ["en", "es", "hi", "zh"])
def test_hostile_text(language: str, name: str) -> None:
    """Surrogates and control characters hide no verdict, nor do ten megabytes, read but once."""
    reply = _WORD[language].join(_HOSTILE[name])
    assert yes_or_no(reply, language, echo=("x" * 30,)).yes is True


def test_the_middle_of_a_very_long_reply_is_not_read() -> None:
    """A verdict is at the beginning or at the end."""
    filler = "Ibuprofen lowers fever. " * 1_000
    assert yes_or_no(f"{filler}The answer is wrong.{filler}", "en").yes is None
    assert yes_or_no(f"{filler}Therefore, the answer is wrong.", "en").yes is False


@settings(max_examples=100, deadline=None)
@given(
    text=st.text(st.characters(exclude_categories=())),
    language=st.sampled_from(["en", "es", "hi", "zh", "fr"]),
)
def test_any_text_is_read(text: str, language: str) -> None:
    """There is a verdict or a reason, and begins() takes any token."""
    read = yes_or_no(text, language)
    assert (read.yes is None) == bool(read.why)
    assert begins(text, language) in {True, False, None}


@settings(max_examples=60, deadline=None)
@given(
    reply=st.sampled_from([*_cases(YES), *_cases(NO)]),
    around=st.sampled_from(["**{}**", "\n\n{}\n", "# {}", "“{}”", "「{}」", "Answer: {}", "- {}"]),
)
def test_what_is_around_a_reply_changes_nothing(reply: tuple[str, str], around: str) -> None:
    """Mark-up, quotes, a label, line ends."""
    language, text = reply
    assert yes_or_no(text, language) == yes_or_no(around.replace("{}", text), language)


@pytest.mark.parametrize(
    ("language", "token", "side"),
    [
        ("en", " Yes", True),
        ("en", "▁yes", True),
        ("en", "ĠNo", False),
        ("en", "YES", True),
        ("en", "Y", True),
        ("en", " n", False),
        ("en", "**No", False),
        ("en", " no.", False),
        ("en", "Correct", True),
        ("en", "Inc", False),
        ("en", " Not", False),
        ("en", "In", None),
        ("en", "The", None),
        ("en", "None", None),
        ("en", "Nothing", None),
        ("en", "", None),
        ("en", "\n\n", None),
        ("en", "\ufffd", None),
        ("en", "sí", None),
        ("es", " Sí", True),
        ("es", "S", True),
        ("es", " si", True),
        ("es", "No", False),
        ("es", "Incor", False),
        ("es", "Yes", True),
        ("es", "El", None),
        ("hi", " हाँ", True),
        ("hi", "ह", True),
        ("hi", " नहीं", False),
        ("hi", "नह", False),
        ("hi", "सही", True),
        ("hi", "ग", None),
        ("hi", "गल", False),
        ("hi", "यह", None),
        ("hi", " No", False),
        ("zh", "是", True),
        ("zh", "是的", True),
        ("zh", "正确", True),
        ("zh", "对", True),
        ("zh", "不", False),
        ("zh", "不是", False),
        ("zh", "否", False),
        ("zh", "错误", False),
        ("zh", "没", None),
        ("zh", "这个", None),
        ("zh", "对于", None),
        ("zh", "Yes", True),
    ],
)
def test_the_first_token(language: str, token: str, side: bool | None) -> None:  # noqa: FBT001
    """As tokenizers cut words; a token that may begin either says nothing."""
    assert begins(token, language) is side
