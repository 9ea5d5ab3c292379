from bot.gates.rule_book import StoredConfig


async def test_the_last_good_text_is_kept_byte_for_byte_and_replaced(store):
    await store.keep_config("repository:77", 5, StoredConfig(b"version: 1\n\xff\x00"))
    assert await store.config("repository:77") == StoredConfig(b"version: 1\n\xff\x00")
    await store.keep_config("repository:77", 5, StoredConfig(b"version: 1\n", "abc"))
    assert await store.config("repository:77") == StoredConfig(b"version: 1\n", "abc")


async def test_nothing_is_kept_of_a_file_that_was_never_seen(store):
    assert await store.config("repository:78") is None
