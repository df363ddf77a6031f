import { Badge, Group, Stack, Text, Timeline } from '@mantine/core';
import type { Explanation } from '../../automation_queries.ts';
import { When } from '../when.tsx';

type Decision = Explanation['decisions'][number];

const Detail = ({ detail }: { detail: Decision['detail'] }) => {
  const entries = Object.entries(detail);
  if (entries.length === 0) return null;
  return (
    <Text size="xs" c="dimmed" className="breaks">
      {entries.map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value}`).join(' · ')}
    </Text>
  );
};

/** What was decided about somebody, in order, and what stopped it. */
export const Decisions = ({ explanation }: { explanation: Explanation }) => {
  const { decisions, stopped_by: stop } = explanation;
  const isStop = (one: Decision): boolean =>
    stop !== null &&
    one.decision === stop.decision &&
    one.at === stop.at &&
    one.step_id === stop.step_id;
  return (
    <Stack gap="sm">
      {stop !== null && (
        <Text size="sm" fw={600} role="status">
          {stop.says}
        </Text>
      )}
      <Timeline bulletSize={14} lineWidth={2} active={decisions.length} color="cyan">
        {decisions.map((one, at) => (
          <Timeline.Item
            key={at}
            color={isStop(one) ? 'orange' : 'cyan'}
            title={
              <Group gap="xs">
                <Text size="sm" fw={isStop(one) ? 700 : 500}>
                  {one.decision.replaceAll('_', ' ')}
                </Text>
                {one.step_id !== null && (
                  <Badge size="sm" variant="default">
                    {one.step_id}
                  </Badge>
                )}
                {one.at !== null && <When at={one.at} />}
              </Group>
            }
          >
            <Text size="sm" c="dimmed">
              {one.says}
            </Text>
            <Detail detail={one.detail} />
          </Timeline.Item>
        ))}
      </Timeline>
    </Stack>
  );
};
