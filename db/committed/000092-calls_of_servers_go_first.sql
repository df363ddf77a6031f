--! Previous: sha1:fcb108c2aa2d20dd1d1a5bdc4dd8401aee332565
--! Hash: sha1:37e2106ba42ec4fde5c58cb7752bcd6675a5dac5
--! Message: calls_of_servers_go_first

-- Webhook calls that pages cause come behind those of servers, and use three lanes of an endpoint.
alter table automations.calls add column if not exists is_of_page boolean not null default false;
select base.declare_columns('automations.calls', '{}', '{}', '{is_of_page}');
