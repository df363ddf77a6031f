import {
  Accordion,
  Alert,
  Badge,
  Button,
  Group,
  List,
  NumberInput,
  Progress,
  SimpleGrid,
  Stack,
  Text,
} from '@mantine/core';
import { useState } from 'react';
import type { Simulation } from '../../automation_queries.ts';
import type { Followed } from '../../follow_simulation.ts';
import { Loading } from '../paged.tsx';
import { Refused } from '../refused.tsx';
import { PersonLink } from '../person_link.tsx';
import { useEditor } from './editor_context.ts';

const DAYS_MAX = 90;
const count = new Intl.NumberFormat();
const inWords = (name: string): string => name.replaceAll('_', ' ');
const sum = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((left, right) => left + right, 0);

const Figure = ({ label, value }: { label: string; value: number }) => (
  <div>
    <Text size="xl" fw={700} className="number">
      {count.format(value)}
    </Text>
    <Text size="xs" c="dimmed">
      {label}
    </Text>
  </div>
);

const Counts = ({ title, counts }: { title: string; counts: Record<string, number> }) => {
  const entries = Object.entries(counts).filter(([, value]) => value > 0);
  if (entries.length === 0) return null;
  return (
    <div>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      {entries.map(([name, value]) => (
        <Group key={name} justify="space-between">
          <Text size="sm">{inWords(name)}</Text>
          <Text size="sm" className="number">
            {count.format(value)}
          </Text>
        </Group>
      ))}
    </div>
  );
};

const Sample = ({ projectId, sample }: { projectId: string; sample: Simulation['sample'] }) => (
  <Accordion variant="contained" chevronPosition="left">
    {sample.map((one, at) => (
      <Accordion.Item key={at} value={String(at)}>
        <Accordion.Control>
          <Group gap="xs">
            <Text size="sm">{new Date(one.entered_at).toLocaleString()}</Text>
            <Badge size="sm" variant="light" tt="none">
              {inWords(one.outcome)}
            </Badge>
          </Group>
        </Accordion.Control>
        <Accordion.Panel>
          <PersonLink
            projectId={projectId}
            person={{ profile_id: one.profile_id, external_id: null, email: null }}
          />
          <List size="sm" mt="xs">
            {one.decisions.map((decision, place) => (
              <List.Item key={place}>
                {decision.step_id}: {inWords(decision.decision)}{' '}
                <Text span size="xs" c="dimmed">
                  {new Date(decision.at).toLocaleString()}
                </Text>
              </List.Item>
            ))}
          </List>
        </Accordion.Panel>
      </Accordion.Item>
    ))}
  </Accordion>
);

const Result = ({ result }: { result: Simulation }) => {
  const { projectId } = useEditor();
  return (
    <Stack gap="md">
      {result.is_partial && (
        <Alert color="yellow">
          There was more than was followed: the numbers are of the newest entries.
        </Alert>
      )}
      <SimpleGrid cols={3} role="status" aria-label="What would have been">
        <Figure label="would have entered" value={result.entered} />
        <Figure label="mails" value={sum(result.sent)} />
        <Figure label="goal reached" value={result.outcomes.converted ?? 0} />
      </SimpleGrid>
      <Counts title="Kept out" counts={result.kept_out} />
      <Counts title="How it would have ended" counts={result.outcomes} />
      <Counts title="Mails left out, and why" counts={result.skipped} />
      <Counts title="Goal reached before this mail" counts={result.converted_before} />
      {result.sample.length > 0 && (
        <div>
          <Text size="sm" fw={600} mb={4}>
            Some of them
          </Text>
          <Sample projectId={projectId} sample={result.sample} />
        </div>
      )}
      {result.assumed.length > 0 && (
        <div>
          <Text size="sm" fw={600}>
            What cannot be known of the past
          </Text>
          <List size="xs" c="dimmed">
            {result.assumed.map(({ what, name, says }) => (
              <List.Item key={`${what}/${name}`}>
                {name === null ? '' : `${name}: `}
                {says}
              </List.Item>
            ))}
          </List>
        </div>
      )}
    </Stack>
  );
};

/** How far it is; before it says so, that something happens. */
const Running = ({ progress }: { progress: Followed | null }) => {
  if (progress === null || progress.of === 0) return <Loading />;
  const { followed, of } = progress;
  return (
    <Stack gap={4}>
      <Progress value={(100 * followed) / of} aria-label="Simulated so far" />
      <Text size="sm" c="dimmed" className="number">
        {count.format(followed)} of {count.format(of)} people followed
      </Text>
    </Stack>
  );
};

/** What the automation would have done with the last days. Nobody is mailed. */
export const SimulatePanel = () => {
  const { simulator } = useEditor();
  const [days, setDays] = useState(30);
  if (simulator === null)
    return <Text size="sm">Save it as a draft first: then it can be run over the past.</Text>;
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        Runs it over this project’s own past, with the time of then. Nobody is mailed, nothing is
        changed.
      </Text>
      <Group align="flex-end" gap="xs">
        <NumberInput
          label="Of the last days"
          value={days}
          onChange={(next) => setDays(Number(next) || 1)}
          min={1}
          max={DAYS_MAX}
          allowDecimal={false}
          w={130}
        />
        <Button
          loading={simulator.isRunning}
          disabled={!simulator.canRun}
          onClick={() => simulator.run(days)}
        >
          {simulator.isDirty ? 'Save and simulate' : 'Simulate'}
        </Button>
      </Group>
      <Refused error={simulator.error} />
      {simulator.isRunning && <Running progress={simulator.progress} />}
      {simulator.result && <Result result={simulator.result} />}
    </Stack>
  );
};
