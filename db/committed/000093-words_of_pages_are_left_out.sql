--! Previous: sha1:37e2106ba42ec4fde5c58cb7752bcd6675a5dac5
--! Hash: sha1:4fd53dd5c60a5a6536be6ce51646a4bd4e0de78a
--! Message: words_of_pages_are_left_out

-- Until then email that no page caused shows nothing that only a browser asserted: the provider did not take such email.
alter table providers.paces add column if not exists bare_until timestamptz(3);
select base.declare_columns('providers.paces', '{}', '{}', '{bare_until}');
