import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { Group, Paper, SimpleGrid, Text } from '@mantine/core';
import type { Overview } from '../api.ts';
import { Y_AXIS, Y_MARGIN } from './chart_axis.ts';
import type { Span } from './spans.ts';

const CHART_HEIGHT_PX = 170;

const hour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const quarter = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
});
/** A bucket of a day is a day of UTC, and called so wherever one reads it. */
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });
const formats: Record<Span, Intl.DateTimeFormat> = { day: hour, week: quarter, month: day };

const charts = [
  { name: 'events', label: 'Events', color: 'cyan.6' },
  { name: 'accepted', label: 'Mails accepted', color: 'grape.5' },
  { name: 'bounced', label: 'Bounces', color: 'orange.6' },
  { name: 'complained', label: 'Complaints', color: 'red.6' },
] as const;

type Props = { data: Overview; span: Span };

/** One chart for each number, each with a scale of its own: bounces beside events would not be seen. */
const OverviewCharts = ({ data, span }: Props) => (
  <SimpleGrid cols={{ base: 1, md: 2 }} spacing={{ base: 'xs', sm: 'md' }}>
    {charts.map(({ name, label, color }) => (
      <Paper
        key={name}
        withBorder
        p={{ base: 'sm', sm: 'md' }}
        component="figure"
        m={0}
        miw={0}
        style={{ overflow: 'hidden' }}
        aria-label={`${label} over time: ${data[name].toLocaleString()} in all`}
      >
        <Group component="figcaption" justify="space-between" mb="xs">
          <Text size="sm" fw={600}>
            {label}
          </Text>
          <Text size="sm" c="dimmed" className="number">
            {data[name].toLocaleString()}
          </Text>
        </Group>
        <BarChart
          h={CHART_HEIGHT_PX}
          data={data.buckets.map((bucket) => ({
            at: formats[span].format(new Date(bucket.at)),
            [label]: bucket[name],
          }))}
          dataKey="at"
          series={[{ name: label, color }]}
          yAxisProps={Y_AXIS}
          barChartProps={{ margin: Y_MARGIN }}
          xAxisProps={{ minTickGap: 24 }}
          valueFormatter={(value) => value.toLocaleString()}
          gridAxis="x"
          tickLine="none"
        />
      </Paper>
    ))}
  </SimpleGrid>
);

export default OverviewCharts;
