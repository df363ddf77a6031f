import { Button, Group, PasswordInput, Select, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { SubmitEvent } from 'react';
import { api, issuesOf } from '../api.ts';
import { useChange } from '../changes.ts';
import { ROLES } from '../people_queries.ts';
import type { Role } from '../people_queries.ts';
import { fieldOf } from './form.ts';
import { Refused } from './refused.tsx';
import { InvitationLink } from './shown_once.tsx';

/** What a role may do, in words. */
export const roleWords: Record<Role, string> = {
  viewer: 'Reads everything, and changes nothing.',
  editor: 'Does the daily work.',
  owner: 'Decides about members, keys and settings, too.',
};
const names: Record<Role, string> = { viewer: 'Viewer', editor: 'Editor', owner: 'Owner' };
export const roleChoices = ROLES.map((role) => ({ value: role, label: names[role] }));
const FIELDS = ['email', 'password'];

type Typed = { email: string; role: Role; password?: string };

/** Invites one address; an owner only by who enters their password again. */
export const InviteForm = ({ projectId }: { projectId: string }) => {
  const [role, setRole] = useState<Role>('editor');
  const invite = useChange(projectId, ['invitations', 'audit'], (typed: Typed) =>
    api.invitations.invite.mutate({ projectId, ...typed }),
  );
  const issues = issuesOf(invite.error);
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const again = role === 'owner' ? { password: fieldOf(form, 'password') } : {};
    const typed = { email: fieldOf(form, 'email').trim(), role, ...again };
    invite.mutate(typed, { onSuccess: () => form.reset() });
  };
  return (
    <Stack>
      <form onSubmit={submit} noValidate>
        <Stack gap="sm">
          <Group align="flex-start" gap="sm">
            <TextInput
              name="email"
              type="email"
              label="E-mail address"
              placeholder="ann@example.com"
              error={issues['email']}
              flex={1}
              miw={220}
            />
            <Select
              label="Role"
              data={roleChoices}
              value={role}
              onChange={(chosen) => setRole((chosen ?? 'editor') as Role)}
              allowDeselect={false}
              description={roleWords[role]}
              inputWrapperOrder={['label', 'input', 'description']}
              flex={1}
              miw={220}
            />
          </Group>
          {role === 'owner' && (
            <PasswordInput
              name="password"
              label="Your password, since an owner may do anything here"
              autoComplete="current-password"
            />
          )}
          <Refused error={invite.error} fields={FIELDS} />
          <Group>
            <Button type="submit" loading={invite.isPending}>
              Invite
            </Button>
          </Group>
        </Stack>
      </form>
      {invite.data && <InvitationLink path={invite.data.path} email={invite.variables.email} />}
    </Stack>
  );
};
