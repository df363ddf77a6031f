import { Group, Text } from '@mantine/core';
import icon from '../icon.svg';

export const Brand = () => (
  <Group gap={8} wrap="nowrap">
    <img src={icon} width={26} height={26} alt="" />
    <Text fw={700} size="lg">
      Trunkline
    </Text>
  </Group>
);
