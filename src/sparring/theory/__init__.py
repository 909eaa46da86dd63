"""LURE's theory, checked numerically on the functions that training itself uses (`sparring theory`)."""
