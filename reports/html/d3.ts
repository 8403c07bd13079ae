/** What the charts take of d3. The build bundles it, so that the package needs none of d3's eleven. */
import { type ScaleContinuousNumeric, scaleLinear, scaleLog, scaleUtc } from 'd3-scale';
import { line } from 'd3-shape';

export type Scale = ScaleContinuousNumeric<number, number>;
export { line, scaleLinear, scaleLog, scaleUtc };
