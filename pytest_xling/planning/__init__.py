"""Plan a run: samples × languages × conditions, what each is asked, what its outcome means."""
