import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
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
};

/** A form of numbers that owners change and that every role reads. */
export const NumberSettings = <Settings extends Numbers>(props: Props<Settings>) => {
  const { projectId, fields, settings, change, read, words } = props;
  const { inputMode = 'numeric', gap = 'md' } = props;
  const isOwner = isAtLeast(useRole(projectId), 'owner');
  const [wrong, setWrong] = useState<string[]>([]);
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const typed = fields.map(({ name }) => [name, read(fieldOf(form, name).trim(), name)] as const);
    const missing = typed.flatMap(([name, value]) => (value === undefined ? [name] : []));
    setWrong(missing);
    if (missing.length === 0) change.mutate(Object.fromEntries(typed) as Settings);
  };
  return (
    <form onSubmit={submit} noValidate aria-label={props.label}>
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
            error={wrong.includes(name) ? words.wrong : issuesOf(change.error)[name]}
          />
        ))}
        <Refused error={change.error} fields={fields.map(({ name }) => name)} />
        {isOwner ? (
          <Group>
            <Button type="submit" loading={change.isPending}>
              {words.submit}
            </Button>
            {change.isSuccess && wrong.length === 0 && (
              <Text size="sm" role="status">
                {words.done}
              </Text>
            )}
          </Group>
        ) : (
          <Text size="sm" c="dimmed">
            {words.ask}
          </Text>
        )}
      </Stack>
    </form>
  );
};
