/** What the charts take of Observable Plot, which wants a document to draw in. The build bundles both for the package. */
import { DOMImplementation } from '@xmldom/xmldom';

export {
  type AreaYOptions,
  areaY,
  binX,
  lineY,
  type Markish,
  type PlotOptions,
  plot,
  type RectYOptions,
  rectX,
  rectY,
  ruleX,
  ruleY,
  type ScaleOptions,
  text,
} from '@observablehq/plot';
export const document = new DOMImplementation().createDocument(null, 'html');
