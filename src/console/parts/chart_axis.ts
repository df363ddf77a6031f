/** Whole numbers, each of them with its line: left to itself the chart leaves out those whose words come close. */
export const Y_AXIS = { allowDecimals: false, width: 44, interval: 0 } as const;
/** Room for half of the uppermost number. */
export const Y_MARGIN = { top: 8 };
