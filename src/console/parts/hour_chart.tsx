import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import type { Overview } from '../api.ts';

const hourOf = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

type Props = { hours: Overview['hours']; height: number };

/** Events and accepted mails of each hour. */
const HourChart = ({ hours, height }: Props) => (
  <figure aria-label="Events and accepted mails per hour" style={{ margin: 0 }}>
    <BarChart
      h={height}
      data={hours.map(({ hour, events, accepted }) => ({
        hour: hourOf.format(new Date(hour)),
        Events: events,
        'Mails accepted': accepted,
      }))}
      dataKey="hour"
      series={[
        { name: 'Events', color: 'cyan.6' },
        { name: 'Mails accepted', color: 'grape.5' },
      ]}
      withLegend
      legendProps={{ verticalAlign: 'bottom', height: 36 }}
      yAxisProps={{ allowDecimals: false, width: 44 }}
      xAxisProps={{ minTickGap: 24 }}
      gridAxis="x"
      tickLine="none"
    />
  </figure>
);

export default HourChart;
