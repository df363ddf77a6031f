import {
  Alert,
  Button,
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
import { failureOf, issuesOf } from '../api.ts';
import {
  commonFields,
  isHalfMissing,
  isSecretKept,
  kindFields,
  kinds,
  SECURE,
  suspectOf,
} from './provider_fields.ts';
import type { Field, Kind, Typed } from './provider_fields.ts';
import { Refused } from './refused.tsx';

const ORDER: ('label' | 'input' | 'description' | 'error')[] = [
  'label',
  'input',
  'description',
  'error',
];

type Errors = Record<string, string>;
type FieldsProps = { typed: Typed; errors: Errors; onType: (name: string, value: string) => void };

const One = ({
  field: { name, label, about, placeholder, type = 'text', isOptional },
  isKept,
  typed,
  errors,
  onType,
}: FieldsProps & { field: Field; isKept: boolean }) => {
  const shared = {
    name,
    label: isOptional ? `${label} (optional)` : label,
    description: about,
    error: errors[name],
    'aria-invalid': errors[name] !== undefined,
    // Fields side by side stay in line, however long what is said of them.
    inputWrapperOrder: ORDER,
    value: typed[name] ?? '',
    onChange: (event: { currentTarget: { value: string } }) =>
      onType(name, event.currentTarget.value),
  };
  if (type === 'secure') return <NativeSelect {...shared} data={SECURE} />;
  if (type === 'password') {
    return (
      <PasswordInput
        {...shared}
        autoComplete="new-password"
        placeholder={isKept ? 'unchanged' : undefined}
      />
    );
  }
  return (
    <TextInput
      {...shared}
      placeholder={placeholder}
      inputMode={type === 'number' ? 'numeric' : undefined}
      autoComplete="off"
    />
  );
};

const Pace = ({ typed, errors, onType }: FieldsProps) => (
  <Fieldset legend="Pace">
    <SimpleGrid cols={{ base: 1, sm: 3 }}>
      <TextInput
        name="rate_per_second"
        label="Sends a second (optional)"
        inputWrapperOrder={ORDER}
        description="At most. Empty: as many as it takes."
        inputMode="decimal"
        error={errors['rate_per_second']}
        value={typed['rate_per_second'] ?? ''}
        onChange={(event) => onType('rate_per_second', event.currentTarget.value)}
      />
      <TextInput
        name="ramp_started_on"
        type="date"
        label="Warm-up from (optional)"
        inputWrapperOrder={ORDER}
        description="Its first day, in UTC."
        error={errors['started_on'] ?? errors['ramp']}
        value={typed['ramp_started_on'] ?? ''}
        onChange={(event) => onType('ramp_started_on', event.currentTarget.value)}
      />
      <TextInput
        name="ramp_stages"
        label="Sends a day while it lasts"
        inputWrapperOrder={ORDER}
        description="Over two weeks, evenly spread."
        placeholder="50, 500, 5000"
        error={errors['stages']}
        value={typed['ramp_stages'] ?? ''}
        onChange={(event) => onType('ramp_stages', event.currentTarget.value)}
      />
    </SimpleGrid>
  </Fieldset>
);

/** What the server said of each field; of a provider's own refusal, at the field that it is about. */
const errorsOf = (kind: Kind, error: unknown): Errors => {
  const failure = failureOf(error);
  const suspect = failure && suspectOf(kind, failure.reason);
  return { ...issuesOf(error), ...(failure && suspect ? { [suspect]: failure.fix } : {}) };
};

const isMissing = (
  { name, type, isOptional, isLogin }: Field,
  typed: Typed,
  kept: Typed | null,
): boolean => {
  if (isLogin) return isHalfMissing(name, typed, kept);
  const mayBeEmpty = isOptional || (type === 'password' && isSecretKept(typed, kept));
  return !mayBeEmpty && (typed[name] ?? '').trim() === '';
};

/** Every field that is needed and empty, at once: the server would name them one kind after the other. */
const missingOf = (kind: Kind, typed: Typed, kept: Typed | null): Errors =>
  Object.fromEntries(
    [...commonFields, ...kindFields[kind]]
      .filter((field) => isMissing(field, typed, kept))
      .map(({ name, type }) => [
        name,
        kept?.['username'] && type === 'password'
          ? 'is needed again for another host, port or encryption'
          : 'is required',
      ]),
  );

const Failure = ({ error, fields }: { error: unknown; fields: string[] }) => {
  const failure = failureOf(error);
  if (!failure) return <Refused error={error} fields={fields} />;
  return (
    <Alert color="red" role="alert" title={failure.cause}>
      {failure.fix} Nothing was kept, and what you typed is still here.
    </Alert>
  );
};

type Props = {
  kind: Kind;
  typed: Typed;
  onType: FieldsProps['onType'];
  onSubmit: () => void;
  label: string;
  /** A record that is there: its secret stays, if none is typed and it goes where it went before. */
  kept?: Typed | null;
  isPending: boolean;
  error: unknown;
};

/** Everything that a provider record is made of. What was typed is never lost to a refusal. */
export const ProviderForm = ({ kind, kept = null, isPending, error, ...props }: Props) => {
  const { typed, onType, onSubmit, label } = props;
  const isKept = isSecretKept(typed, kept);
  const form = useRef<HTMLFormElement>(null);
  const [missing, setMissing] = useState<Errors>({});
  const errors = { ...errorsOf(kind, error), ...missing };
  const shared = { typed, errors, onType };
  const names = [...commonFields, ...kindFields[kind]].map(({ name }) => name);
  // Whoever uses the keyboard goes on at the first field that was refused.
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error, missing]);
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const empty = missingOf(kind, typed, kept);
    setMissing(empty);
    if (Object.keys(empty).length === 0) onSubmit();
  };
  const toInput = (field: Field) => (
    <One key={field.name} field={field} isKept={isKept} {...shared} />
  );
  return (
    <form ref={form} onSubmit={submit} noValidate aria-label={label}>
      <Stack>
        <Fieldset legend="Sender">
          <SimpleGrid cols={{ base: 1, sm: 2 }}>{commonFields.map(toInput)}</SimpleGrid>
        </Fieldset>
        <Fieldset legend={kinds[kind].word}>
          <SimpleGrid cols={{ base: 1, sm: 2 }}>{kindFields[kind].map(toInput)}</SimpleGrid>
        </Fieldset>
        <Pace {...shared} />
        <Failure
          error={error}
          fields={[...names, 'rate_per_second', 'started_on', 'stages', 'ramp']}
        />
        <Group>
          <Button type="submit" loading={isPending}>
            {label}
          </Button>
        </Group>
      </Stack>
    </form>
  );
};
