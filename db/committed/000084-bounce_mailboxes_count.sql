--! Previous: sha1:0402b9de13d5d0879ee67754f37c88bef217be85
--! Hash: sha1:441e061379adad889a0219ec3734458542a42e72
--! Message: bounce_mailboxes_count

alter table providers.bounce_mailboxes
  add column if not exists message_count bigint not null default 0,
  add column if not exists report_count bigint not null default 0;
select base.declare_columns('providers.bounce_mailboxes', '{}', '{}', '{message_count,report_count}');
