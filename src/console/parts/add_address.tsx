import { Button, Group, Modal, Radio, Stack, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { SubmitEvent } from 'react';
import { api, issuesOf } from '../api.ts';
import { useChange } from '../changes.ts';
import { fieldOf } from './form.ts';
import { Refused } from './refused.tsx';

type Props = { projectId: string; isOpen: boolean; onClose: () => void };
type Typed = { email: string; note?: string; from: string };

const FIELDS = ['email', 'note'];

const Form = ({ projectId, onClose }: Omit<Props, 'isOpen'>) => {
  const navigate = useNavigate();
  const add = useChange(projectId, ['addresses'], ({ from, ...said }: Typed) =>
    api.suppressions[from === 'every' ? 'suppress' : 'unsubscribe'].mutate({ projectId, ...said }),
  );
  const issues = issuesOf(add.error);
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const [email, note] = [fieldOf(form, 'email').trim(), fieldOf(form, 'note').trim()];
    const typed = { email, from: fieldOf(form, 'from'), ...(note === '' ? {} : { note }) };
    add.mutate(typed, {
      onSuccess: () =>
        void navigate({ to: '/p/$projectId/suppressions/$email', params: { projectId, email } }),
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput
          name="email"
          type="email"
          label="Address"
          placeholder="ann@example.com"
          error={issues['email']}
          data-autofocus
          required
          withAsterisk={false}
        />
        <Radio.Group name="from" label="Is left alone by" defaultValue="every">
          <Stack gap="xs" mt={6}>
            <Radio value="every" label="Every mail" description="Suppressed, whatever happens." />
            <Radio
              value="marketing"
              label="Marketing mail"
              description="Unsubscribed. Receipts and passwords still come."
            />
          </Stack>
        </Radio.Group>
        <TextInput
          name="note"
          label="Note"
          description="Why, for whoever looks later. Optional."
          error={issues['note']}
        />
        <Refused error={add.error} fields={FIELDS} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={add.isPending}>
            Add
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

/** Somebody asked on the telephone: one address, by hand. */
export const AddAddress = ({ isOpen, onClose, projectId }: Props) => (
  <Modal opened={isOpen} onClose={onClose} title="Add an address">
    <Form projectId={projectId} onClose={onClose} />
  </Modal>
);
