import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { Y_AXIS, Y_MARGIN } from '../chart_axis.ts';

const DAYS = 30;
const DAY_MS = 86_400_000;

type Day = { day: string; entered: number; left: number };

const dayOf = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  timeZone: 'UTC',
});

/** Each of the last days, also those on which nobody came or went. */
const withAll = (days: readonly Day[]) => {
  const known = new Map(days.map((one) => [one.day, one]));
  const today = Date.now();
  return Array.from({ length: DAYS }, (_, at) => {
    const date = new Date(today - (DAYS - 1 - at) * DAY_MS);
    const found = known.get(date.toISOString().slice(0, 10));
    return {
      day: dayOf.format(date),
      Entered: found?.entered ?? 0,
      Left: -(found?.left ?? 0),
    };
  });
};

/** How many came and went on each day. */
const DaysChart = ({ days }: { days: readonly Day[] }) => (
  <figure
    aria-label="People who entered and left on each of the last 30 days"
    style={{ margin: 0 }}
  >
    <BarChart
      h={220}
      data={withAll(days)}
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
  </figure>
);

export default DaysChart;
