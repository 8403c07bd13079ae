/** What the charts take of Observable Plot, which wants a document to draw in. The build bundles both for the package. */
import { DOMImplementation } from '@xmldom/xmldom';

export { areaY, binX, lineY, plot, rectX, rectY, ruleX, ruleY, text } from '@observablehq/plot';
export const document = new DOMImplementation().createDocument(null, 'html');
