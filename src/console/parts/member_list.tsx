import { Badge, Button, Group, Paper, Select, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../api.ts';
import { useChange } from '../changes.ts';
import { forget, isAtLeast, useRole } from '../people_queries.ts';
import type { Member, Role } from '../people_queries.ts';
import { roleChoices } from './invite_form.tsx';
import { PasswordAgain } from './password_again.tsx';
import { Refused } from './refused.tsx';
import { When } from './when.tsx';

type Props = { projectId: string; member: Member };
const READ_ANEW = ['members', 'audit'];

/** Another role: with the password where an owner is made or unmade. */
const RoleOf = ({ projectId, member }: Props) => {
  const [asked, setAsked] = useState<Role | null>(null);
  const change = useChange(
    projectId,
    READ_ANEW,
    async ({ role, password }: { role: Role; password?: string }) => {
      const again = password === undefined ? {} : { password };
      await api.members.changeRole.mutate({ projectId, personId: member.id, role, ...again });
      if (member.is_you) await forget('projects');
    },
  );
  const choose = (role: Role): void => {
    if (role === member.role) return;
    if (role === 'owner' || member.role === 'owner') setAsked(role);
    else change.mutate({ role });
  };
  const again = {
    ...change,
    mutate: (password: string, options?: object) =>
      change.mutate({ role: asked ?? member.role, password }, options),
  };
  return (
    <>
      <Select
        aria-label={`Role of ${member.email}`}
        data={roleChoices}
        value={member.role}
        onChange={(role) => choose(role as Role)}
        allowDeselect={false}
        w={140}
        disabled={change.isPending}
      />
      {asked === null && <Refused error={change.error} />}
      <PasswordAgain
        title="Change an owner"
        about={`${member.email} becomes ${asked}. Owners may do anything in this project.`}
        label="Change the role"
        isOpen={asked !== null}
        onClose={() => setAsked(null)}
        change={again}
      />
    </>
  );
};

/** Removing somebody, or leaving oneself: asked twice, of an owner with the password. */
const Remove = ({ projectId, member }: Props) => {
  const navigate = useNavigate();
  const [isSure, setIsSure] = useState(false);
  const [isAsked, asked] = useDisclosure();
  const words = member.is_you ? 'Leave the project' : 'Remove';
  const remove = useChange(projectId, READ_ANEW, async (password: string) => {
    const given = { projectId, ...(password === '' ? {} : { password }) };
    if (!member.is_you) return api.members.remove.mutate({ ...given, personId: member.id });
    const left = await api.members.leave.mutate(given);
    await forget('projects');
    await navigate({ to: '/' });
    return left;
  });
  const press = (): void => {
    if (member.role === 'owner') asked.open();
    else if (isSure) remove.mutate('');
    else setIsSure(true);
  };
  return (
    <>
      <Button
        size="xs"
        variant={isSure ? 'filled' : 'default'}
        color={isSure ? 'red' : 'gray'}
        loading={remove.isPending}
        onClick={press}
        aria-label={`${isSure ? 'Yes: ' : ''}${words}, ${member.email}`}
      >
        {isSure ? `Yes, ${words.toLowerCase()}` : words}
      </Button>
      {!isAsked && <Refused error={remove.error} />}
      <PasswordAgain
        title={words}
        about={`${member.email} is an owner, and will not see this project any more.`}
        label={words}
        isOpen={isAsked}
        onClose={asked.close}
        change={remove}
      />
    </>
  );
};

const One = ({ projectId, member }: Props) => {
  const mayChange = isAtLeast(useRole(projectId), 'owner');
  return (
    <Paper withBorder p="md" component="li">
      <Group justify="space-between" gap="sm">
        <Stack gap={4} className="breaks">
          <Group gap="xs">
            <Text fw={600} className="breaks">
              {member.email}
            </Text>
            {member.is_you && <Badge variant="light">you</Badge>}
          </Group>
          <Group gap={6}>
            <Text size="sm" c="dimmed">
              {mayChange ? 'since' : `${member.role}, since`}
            </Text>
            <When at={member.since} />
          </Group>
        </Stack>
        <Group gap="sm">
          {mayChange && <RoleOf projectId={projectId} member={member} />}
          {(mayChange || member.is_you) && <Remove projectId={projectId} member={member} />}
        </Group>
      </Group>
    </Paper>
  );
};

export const MemberList = ({ projectId, items }: { projectId: string; items: Member[] }) => (
  <Stack component="ul" gap="sm" m={0} p={0}>
    {items.map((member) => (
      <One key={member.id} projectId={projectId} member={member} />
    ))}
  </Stack>
);
