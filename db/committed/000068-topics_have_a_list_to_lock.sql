--! Previous: sha1:b2c638cad441739b1e9657616d81123ca6c96b47
--! Hash: sha1:2eeda27f73323b115c98aa843f8ce697eee2a413
--! Message: topics_have_a_list_to_lock

-- Enter migration here
-- One row per project, which a transaction locks to change the project's topics: a row follows its project to its node.
create table if not exists feedback.topic_lists (
  project_id uuid not null,
  primary key (project_id)
);
select base.isolate_table('feedback.topic_lists');
grant select, insert, update on feedback.topic_lists to trunkline_runtime;
select base.declare_columns('feedback.topic_lists', '{}', '{}', '{project_id}');

--! Included delivery/hold_mailboxes.sql
-- Locks the addresses of a step of hand-offs and the mailboxes that they lead to, in the order of their keys, until the
-- transaction ends: two sends to one mailbox are decided one after the other, whatever tag or spelling they have.
--
-- A mailbox is the row of its plainest address, which plan_send makes.
create or replace function delivery.hold_mailboxes(project_id uuid, send_ids uuid[], address_keys bytea[])
returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  v_keys bytea[];
begin
  select coalesce(array_agg(send.mailbox_key), '{}')
  into v_keys
  from unnest(hold_mailboxes.send_ids) as named (send_id)
  cross join lateral (
    select known.mailbox_key
    from delivery.sends as known
    where known.project_id = hold_mailboxes.project_id and known.send_id = named.send_id
    and known.mailbox_key is not null
    limit 1
  ) as send;

  perform from suppression.addresses as address
  where address.project_id = hold_mailboxes.project_id
  and address.address_key = any (hold_mailboxes.address_keys || v_keys)
  order by address.address_key
  for no key update;
end;
$$;
--! EndIncluded delivery/hold_mailboxes.sql
