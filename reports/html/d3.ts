/** What the charts take of d3. The build bundles it, so that the package needs none of d3's eleven. */
import { scaleLinear, scaleLog, scaleUtc } from 'd3-scale';
import { curveStepAfter, area as d3Area, line } from 'd3-shape';

type Point = readonly [number, number];

export { curveStepAfter, scaleLinear, scaleLog, scaleUtc };
export const d3Line = line<Point>;
export const area = d3Area<Point>;
