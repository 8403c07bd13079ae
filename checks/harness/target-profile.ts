import type { Permission } from '../../reports/report.ts';
