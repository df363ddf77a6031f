import {
  Alert,
  Button,
  Checkbox,
  Fieldset,
  Group,
  NativeSelect,
  PasswordInput,
  SimpleGrid,
  Stack,
  TextInput,
} from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import type { SubmitEvent } from 'react';
import { failureOf, issuesOf } from '../../api.ts';
import { Refused } from '../refused.tsx';
import { AFTER_READ, SECURE, SUSPECTS, toTypedMailbox } from './mailbox_fields.ts';
import type { Mailbox, TypedMailbox } from './mailbox_fields.ts';

type Errors = Record<string, string>;
type Text = Exclude<keyof TypedMailbox, 'verp'>;

const ORDER: ('label' | 'input' | 'description' | 'error')[] = [
  'label',
  'input',
  'description',
  'error',
];

/** What the server said of each field, and of its own refusal at the field that it is about. */
const errorsOf = (error: unknown): Errors => {
  const failure = failureOf(error);
  const suspect = failure && SUSPECTS[failure.reason];
  return { ...issuesOf(error), ...(failure && suspect ? { [suspect]: failure.cause } : {}) };
};

const Failure = ({ error, fields }: { error: unknown; fields: string[] }) => {
  const failure = failureOf(error);
  if (!failure) return <Refused error={error} fields={fields} />;
  return (
    <Alert color="red" role="alert" title={failure.cause}>
      {failure.fix} Trunkline saved nothing. Your entries are still here.
    </Alert>
  );
};

/** What an input of the form needs, by its name. */
type Of = (
  name: Text,
  label: string,
  description?: string,
) => {
  name: string;
  label: string;
  description: string | undefined;
  inputWrapperOrder: typeof ORDER;
  error: string | undefined;
  'aria-invalid': boolean;
  value: string;
  onChange: (event: { currentTarget: { value: string } }) => void;
};

const Server = ({ of, isKept }: { of: Of; isKept: boolean }) => (
  <Fieldset legend="IMAP server">
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <TextInput {...of('host', 'Host')} placeholder="imap.example.com" autoComplete="off" />
      <TextInput {...of('port', 'Port')} inputMode="numeric" autoComplete="off" />
      <NativeSelect {...of('secure', 'Encryption')} data={SECURE} />
      <TextInput {...of('folder', 'Folder')} autoComplete="off" />
      <TextInput {...of('username', 'User name')} autoComplete="off" />
      <PasswordInput
        {...of('password', 'Password', 'Stored encrypted, never shown.')}
        autoComplete="new-password"
        placeholder={isKept ? 'unchanged' : undefined}
      />
    </SimpleGrid>
  </Fieldset>
);

type BouncesProps = { of: Of; typed: TypedMailbox; onVerp: (verp: boolean) => void };

const Bounces = ({ of, typed, onVerp }: BouncesProps) => (
  <Fieldset legend="Bounces">
    <Stack>
      <TextInput
        {...of(
          'bounce_address',
          'Bounce address (optional)',
          'An address of this mailbox. Relays return bounces to it. Empty: the From address.',
        )}
        placeholder="bounces@example.com"
        autoComplete="off"
      />
      <Checkbox
        label="Use a separate bounce address for each email (VERP)"
        description="The mailbox has to accept addresses with a “+”, such as bounces+token@example.com."
        checked={typed.verp}
        onChange={(event) => onVerp(event.currentTarget.checked)}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <NativeSelect
          {...of('after_read', 'After a report is read', 'Other messages stay as they are.')}
          data={AFTER_READ}
        />
        {typed.after_read === 'move' && <TextInput {...of('move_to', 'Move to folder')} />}
      </SimpleGrid>
    </Stack>
  </Fieldset>
);

type Props = {
  mailbox: Mailbox | null;
  onSave: (typed: TypedMailbox) => void;
  isPending: boolean;
  error: unknown;
};

/** The settings of a bounce mailbox. What was typed is never lost to a refusal. */
export const MailboxForm = ({ mailbox, onSave, isPending, error }: Props) => {
  const [typed, setTyped] = useState(() => toTypedMailbox(mailbox));
  const form = useRef<HTMLFormElement>(null);
  const errors = errorsOf(error);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  const of: Of = (name, label, description) => ({
    name: `bounce_mailbox_${name}`,
    label,
    description,
    inputWrapperOrder: ORDER,
    error: errors[name],
    'aria-invalid': errors[name] !== undefined,
    value: typed[name],
    onChange: (event: { currentTarget: { value: string } }) => {
      const { value } = event.currentTarget;
      setTyped((before) => ({ ...before, [name]: value }));
    },
  });
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    onSave(typed);
  };
  return (
    <form ref={form} onSubmit={submit} noValidate aria-label="Bounce mailbox">
      <Stack>
        <Server of={of} isKept={mailbox !== null} />
        <Bounces
          of={of}
          typed={typed}
          onVerp={(verp) => setTyped((before) => ({ ...before, verp }))}
        />
        <Failure error={error} fields={Object.keys(typed)} />
        <Group>
          <Button type="submit" loading={isPending}>
            Save bounce mailbox
          </Button>
        </Group>
      </Stack>
    </form>
  );
};
