import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { Text } from '@mantine/core';
import { Y_AXIS, Y_MARGIN } from '../chart_axis.ts';

const DAYS = 30;
const DAY_MS = 86_400_000;

type Day = { day: string; entered: number; left: number };

const dayOf = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  timeZone: 'UTC',
});

/** Each of the last days, also those on which nobody came or went; nothing of those that were not counted. */
const withAll = (days: readonly Day[], isCapped: boolean) => {
  const known = new Map(days.map((one) => [one.day, one]));
  const first = isCapped ? (days[0]?.day ?? '') : '';
  const today = Date.now();
  return Array.from({ length: DAYS }, (_, at) => {
    const date = new Date(today - (DAYS - 1 - at) * DAY_MS);
    const day = date.toISOString().slice(0, 10);
    const { entered, left } = known.get(day) ?? { entered: 0, left: 0 };
    const isKnown = day >= first;
    return {
      day: dayOf.format(date),
      Entered: isKnown ? entered : null,
      Left: isKnown ? -left : null,
    };
  });
};

/** How many came and went on each day. */
const DaysChart = ({ days, isCapped }: { days: readonly Day[]; isCapped: boolean }) => (
  <figure
    aria-label="People who entered and left on each of the last 30 days"
    style={{ margin: 0 }}
  >
    <BarChart
      h={220}
      data={withAll(days, isCapped)}
      dataKey="day"
      type="stacked"
      series={[
        { name: 'Entered', color: 'teal.6' },
        { name: 'Left', color: 'orange.6' },
      ]}
      withLegend
      legendProps={{ verticalAlign: 'bottom', height: 36 }}
      yAxisProps={Y_AXIS}
      barChartProps={{ margin: Y_MARGIN }}
      xAxisProps={{ minTickGap: 24 }}
      valueFormatter={(value) => Math.abs(value).toLocaleString()}
      gridAxis="x"
      tickLine="none"
    />
    {isCapped && (
      <Text component="figcaption" size="sm" c="dimmed">
        So many came and went that only the last of them are counted: the first day shown is told in
        part.
      </Text>
    )}
  </figure>
);

export default DaysChart;
