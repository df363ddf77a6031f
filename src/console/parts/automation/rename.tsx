import { ActionIcon, Button, Group, TextInput, Tooltip } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import { useChange } from '../../changes.ts';
import { Refused } from '../refused.tsx';

type Props = { projectId: string; automationId: string; name: string };

/** Gives an automation another name; what it does, it goes on with. */
export const RenameAutomation = ({ projectId, automationId, name }: Props) => {
  const [typed, setTyped] = useState<string | null>(null);
  const rename = useChange(projectId, ['automations'], async (next: string) => {
    await api.automations.rename.mutate({ projectId, automationId, name: next });
    setTyped(null);
  });
  if (typed === null)
    return (
      <Tooltip label="Rename">
        <ActionIcon variant="subtle" aria-label="Rename" onClick={() => setTyped(name)}>
          <IconPencil size={18} />
        </ActionIcon>
      </Tooltip>
    );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        rename.mutate(typed.trim());
      }}
    >
      <Group gap="xs">
        <TextInput
          aria-label="New name"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoFocus
        />
        <Button type="submit" disabled={typed.trim() === ''} loading={rename.isPending}>
          Rename
        </Button>
        <Button variant="default" onClick={() => setTyped(null)}>
          Cancel
        </Button>
        <Refused error={rename.error} />
      </Group>
    </form>
  );
};
