import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  Input,
  NumberInput,
  Stack,
  TextInput,
} from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useEditor, useErrors } from './editor_context.ts';
import type { StepOf } from './exits.ts';
import { withoutLost } from './model.ts';

type Props = { id: string; step: StepOf<'split'> };
type Way = StepOf<'split'>['ways'][number];

const LETTERS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];

const WayFields = ({ id, step, at, way }: Props & { at: number; way: Way }) => {
  const { setStep, definition, change } = useEditor();
  const errorOf = useErrors(`/steps/${id}/ways/${at}`);
  const set = (next: Way) =>
    setStep(id, { ...step, ways: step.ways.map((one, place) => (place === at ? next : one)) });
  const remove = (): void => {
    const ways = step.ways.filter((_, place) => place !== at);
    const steps = { ...definition.steps, [id]: { ...step, ways } };
    change(withoutLost(definition, { ...definition, steps }));
  };
  return (
    <Stack gap={6}>
      <Group gap={6} wrap="nowrap" align="flex-start">
        <TextInput
          aria-label={`Name of way ${at + 1}`}
          value={way.name}
          onChange={(event) => set({ ...way, name: event.currentTarget.value })}
          error={errorOf('name')}
          flex={1}
        />
        <NumberInput
          aria-label={`Weight of way ${at + 1}`}
          value={way.weight}
          onChange={(weight) => set({ ...way, weight: Number(weight) || 0 })}
          min={1}
          allowDecimal={false}
          error={errorOf('weight')}
          w={90}
        />
        <ActionIcon
          variant="subtle"
          color="gray"
          mt={5}
          disabled={step.ways.length <= 2}
          aria-label={`Remove way ${way.name}`}
          onClick={remove}
        >
          <IconTrash size={16} />
        </ActionIcon>
      </Group>
      <Checkbox
        size="xs"
        label="Leave these people alone, to compare with"
        checked={way.is_holdout}
        onChange={(event) => set({ ...way, is_holdout: event.currentTarget.checked })}
      />
    </Stack>
  );
};

export const SplitPanel = ({ id, step }: Props) => {
  const { setStep } = useEditor();
  const errorOf = useErrors(`/steps/${id}`);
  const name = LETTERS.find((one) => step.ways.every((way) => way.name !== one)) ?? '';
  const add = (): void =>
    setStep(id, {
      ...step,
      ways: [...step.ways, { name, weight: 50, next: null, is_holdout: false }],
    });
  return (
    <Input.Wrapper
      label="Ways and their weights"
      description="Everybody stays on their way, however often they come."
      error={errorOf('ways')}
      labelElement="div"
    >
      <Stack gap="md" mt="xs">
        {step.ways.map((way, at) => (
          <WayFields key={at} id={id} step={step} at={at} way={way} />
        ))}
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          style={{ alignSelf: 'flex-start' }}
          onClick={add}
        >
          Add a way
        </Button>
      </Stack>
    </Input.Wrapper>
  );
};
