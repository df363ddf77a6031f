--! Previous: sha1:068bcbb7b1b24142f1635564d9031948933691bb
--! Hash: sha1:4f8f6f1a1e87609db04bca791f0059d6557caab8
--! Message: calls_of_servers_go_first

-- Webhook calls that pages cause come behind those of servers, and use three lanes of an endpoint.
alter table automations.calls add column if not exists is_of_page boolean not null default false;
select base.declare_columns('automations.calls', '{}', '{}', '{is_of_page}');
