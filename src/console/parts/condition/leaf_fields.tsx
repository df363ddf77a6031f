import { Group, Select, TextInput } from '@mantine/core';
import { SegmentChoice } from '../automation/choice.tsx';
import { EventFields, EventTimeFields } from './event_fields.tsx';
import type { Leaf } from './event_fields.tsx';
import { EmailFields, EventSinceFields, TriggerFields } from './run_fields.tsx';
import type { Condition, Of } from './shapes.ts';
import { TestFields } from './test_fields.tsx';

const TraitFields = ({ condition, onChange, at, errorAt }: Leaf<Of<'trait'>>) => (
  <Group gap="xs" align="flex-start" grow preventGrowOverflow={false}>
    <TextInput
      aria-label="Trait"
      placeholder="trait, such as plan"
      value={condition.trait}
      onChange={(event) => onChange({ ...condition, trait: event.currentTarget.value })}
      error={errorAt(`${at}/trait`)}
      spellCheck={false}
      miw={130}
    />
    <TestFields
      test={condition.test}
      onChange={(test) => onChange({ ...condition, test })}
      error={errorAt(`${at}/test`)}
    />
  </Group>
);

const TAGS = [
  'hard_bounced',
  'complained',
  'suppressed',
  'provider_suppressed',
  'soft_bounced',
  'unsubscribed',
] as const;

/** The fields of one condition that holds no others. */
export const LeafFields = ({ condition, ...rest }: Leaf<Condition>) => {
  const { onChange, projectId, errorAt, at } = rest;
  switch (condition.kind) {
    case 'trait':
      return <TraitFields {...rest} condition={condition} />;
    case 'event':
      return <EventFields {...rest} condition={condition} />;
    case 'event_time':
      return <EventTimeFields {...rest} condition={condition} />;
    case 'segment':
      return (
        <SegmentChoice
          projectId={projectId}
          label="Segment"
          value={condition.segment_id}
          onChange={(segment_id) => onChange({ ...condition, segment_id })}
          error={errorAt(`${at}/segment_id`)}
        />
      );
    case 'tag':
      return (
        <Select
          aria-label="Tag"
          data={TAGS.map((tag) => ({ value: tag, label: tag.replaceAll('_', ' ') }))}
          value={condition.tag}
          onChange={(tag) => onChange({ ...condition, tag } as Condition)}
          allowDeselect={false}
        />
      );
    case 'trigger':
      return <TriggerFields {...rest} condition={condition} />;
    case 'event_since':
      return <EventSinceFields {...rest} condition={condition} />;
    case 'email':
      return <EmailFields {...rest} condition={condition} />;
    default:
      return null;
  }
};
