import { NumberInput, Select, Stack, TagsInput, TextInput } from '@mantine/core';
import { ScalarField } from '../automation/scalar_field.tsx';
import { shapeOf, TEST_WORDS, withTest } from './shapes.ts';
import type { Test } from './shapes.ts';

type Props = {
  test: Test;
  onChange: (test: Test) => void;
  error?: string | undefined;
  /** Which tests may be chosen; all, unless it is said otherwise. */
  only?: readonly Test['is'][];
};

const Value = ({ test, onChange, error }: Props) => {
  const shape = shapeOf(test.is);
  if (shape === 'nothing') return null;
  if (shape === 'days' && 'days' in test)
    return (
      <NumberInput
        aria-label="Days"
        value={test.days}
        onChange={(days) => onChange({ ...test, days: Number(days) || 0 })}
        suffix=" days"
        min={1}
        allowDecimal={false}
        error={error}
      />
    );
  if ('values' in test)
    return (
      <TagsInput
        aria-label="Values"
        placeholder="Type a value, then press Enter"
        value={test.values.map(String)}
        onChange={(values) => onChange({ ...test, values })}
        error={error}
      />
    );
  if (!('value' in test)) return null;
  const set = (value: unknown) => onChange({ ...test, value } as Test);
  if (shape === 'moment')
    return (
      <TextInput
        aria-label="Day"
        type="date"
        value={String(test.value).slice(0, 10)}
        onChange={(event) => set(`${event.currentTarget.value}T00:00:00.000Z`)}
        error={error}
      />
    );
  return (
    <ScalarField
      label="Value"
      value={test.value}
      onChange={set}
      only={shape === 'scalar' ? undefined : shape === 'number' ? 'number' : 'text'}
      error={error}
    />
  );
};

/** What a value must be. */
export const TestFields = ({ test, onChange, error, only }: Props) => (
  <Stack gap={6}>
    <Select
      aria-label="Test"
      data={Object.entries(TEST_WORDS)
        .filter(([is]) => only === undefined || only.includes(is as Test['is']))
        .map(([value, label]) => ({ value, label }))}
      value={test.is}
      onChange={(is) => onChange(withTest(test, is as Test['is']))}
      allowDeselect={false}
    />
    <Value test={test} onChange={onChange} error={error} />
  </Stack>
);

export const LASTING = (Object.keys(TEST_WORDS) as Test['is'][]).filter(
  (is) => shapeOf(is) !== 'days',
);
export const OF_TIME: readonly Test['is'][] = ['within_last', 'before', 'after'];
