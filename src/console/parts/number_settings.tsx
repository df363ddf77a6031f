import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import type { StackProps } from '@mantine/core';
import { useState } from 'react';
import type { SubmitEvent } from 'react';
import { issuesOf } from '../api.ts';
import { isAtLeast, useRole } from '../people_queries.ts';
import { fieldOf } from './form.ts';
import { Refused } from './refused.tsx';

type Numbers = Record<string, number | null>;
export type NumberField<Settings extends Numbers> = {
  name: keyof Settings & string;
  label: string;
  about?: string;
};

type Loss = { says: string; sure: string };

type Props<Settings extends Numbers> = {
  projectId: string;
  fields: readonly NumberField<Settings>[];
  settings: Settings;
  change: {
    mutate: (settings: Settings) => void;
    error: unknown;
    isPending: boolean;
    isSuccess: boolean;
  };
  /** Returns the number that was typed into a field; undefined where it is none. */
  read: (typed: string, name: keyof Settings & string) => number | null | undefined;
  inputMode?: 'numeric' | 'decimal';
  /** The texts for a field without a number, the button, a change that is done, and other roles than owners. */
  words: { wrong: string; submit: string; done: string; ask: string };
  label?: string;
  gap?: StackProps['gap'];
  /** Returns what a change removes for good, and the label that confirms it; null where nothing goes. */
  findLoss?: (given: Settings) => Loss | null;
};

type SubmitProps = { label: string; isLoss: boolean; isPending: boolean; done: string | null };

const Submit = ({ label, isLoss, isPending, done }: SubmitProps) => (
  <Group>
    <Button type="submit" {...(isLoss ? { color: 'red' } : {})} loading={isPending}>
      {label}
    </Button>
    {done !== null && (
      <Text size="sm" role="status">
        {done}
      </Text>
    )}
  </Group>
);

/** A form of numbers that owners change and that every role reads. */
export const NumberSettings = <Settings extends Numbers>(props: Props<Settings>) => {
  const { projectId, fields, settings, change, read, words } = props;
  const { inputMode = 'numeric', gap = 'md' } = props;
  const isOwner = isAtLeast(useRole(projectId), 'owner');
  const [wrong, setWrong] = useState<string[]>([]);
  const [loss, setLoss] = useState<(Loss & { of: string }) | null>(null);
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const typed = fields.map(({ name }) => [name, read(fieldOf(form, name).trim(), name)] as const);
    const missing = typed.flatMap(([name, value]) => (value === undefined ? [name] : []));
    setWrong(missing);
    if (missing.length > 0) return setLoss(null);
    const given = Object.fromEntries(typed) as Settings;
    const found = props.findLoss?.(given) ?? null;
    const of = JSON.stringify(given);
    if (found !== null && loss?.of !== of) return setLoss({ ...found, of });
    setLoss(null);
    change.mutate(given);
  };
  return (
    <form onSubmit={submit} onInput={() => setLoss(null)} noValidate aria-label={props.label}>
      <Stack gap={gap}>
        {fields.map(({ name, label, about }) => (
          <TextInput
            key={`${name}/${settings[name]}`}
            name={name}
            label={label}
            description={about}
            defaultValue={settings[name] ?? ''}
            inputMode={inputMode}
            readOnly={!isOwner}
            error={
              wrong.includes(name) ? words.wrong : loss ? undefined : issuesOf(change.error)[name]
            }
          />
        ))}
        {loss && (
          <Alert color="red" role="alert">
            {loss.says}
          </Alert>
        )}
        <Refused error={change.error} fields={fields.map(({ name }) => name)} />
        {isOwner ? (
          <Submit
            label={loss?.sure ?? words.submit}
            isLoss={loss !== null}
            isPending={change.isPending}
            done={change.isSuccess && wrong.length === 0 && !loss ? words.done : null}
          />
        ) : (
          <Text size="sm" c="dimmed">
            {words.ask}
          </Text>
        )}
      </Stack>
    </form>
  );
};
