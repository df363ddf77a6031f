--! Previous: sha1:0402b9de13d5d0879ee67754f37c88bef217be85
--! Hash: sha1:5165694d5e07c1804a8f80ad4b9e3ad249dbc9b6
--! Message: bounce_mailboxes_count

alter table providers.bounce_mailboxes
  add column message_count bigint not null default 0,
  add column report_count bigint not null default 0;
select base.declare_columns('providers.bounce_mailboxes', '{}', '{}', '{message_count,report_count}');
