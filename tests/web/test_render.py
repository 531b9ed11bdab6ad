"""The text of the page, without a browser."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import synthetic

from autograd_cy.profiler._page import as_json, render


def embedded(page: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="model">(.*?)</script>', page, re.DOTALL)[1])


def test_the_model_comes_back_as_it_was():
    model = synthetic.model()
    assert embedded(render(model)) == model


def test_nothing_in_a_model_ends_its_script():
    model = synthetic.empty() | {"title": "</script><!-- model -->\u2028&\udc80é"}
    page = render(model)
    assert embedded(page) == model
    assert page.encode() and "<title>&lt;/script&gt;" in page
    text = as_json(model)
    assert text.isascii() and not set(text) & set("<>&")


def test_arrays_are_columns_and_what_json_has_not_is_refused():
    assert as_json({"start": np.arange(3), "end": np.int64(5)}) == '{"start":[0,1,2],"end":5}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_json({"end": float("nan")})


def test_the_page_is_one_file_and_names_no_other():
    found = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            found.extend(value for name, value in attributes if name in ("src", "href", "action", "srcset"))

    page = render(synthetic.model())
    Reader().feed(page)
    assert found == ["data:,", "#main"]
    assert "default-src 'none'" in page
    assert not re.search(r"@import|url\((?!#)|fetch\(|XMLHttpRequest|https?://(?!www\.w3\.org/2000/svg)", page)
