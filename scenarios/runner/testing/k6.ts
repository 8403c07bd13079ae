import { findK6, type K6Binary, provideK6 } from '../k6/k6-binary.ts';

/** The k6 that tests run, or why they are skipped. In CI there is no skipping: k6 is built where it is missing. */
export async function k6ForTests(): Promise<{ k6: K6Binary; skip: false } | { k6: undefined; skip: string }> {
  const { CI } = process.env;
  if (CI === 'true' || CI === '1') return { k6: await provideK6(() => {}), skip: false };
  const k6 = await findK6();
  return k6 === undefined
    ? { k6: undefined, skip: 'there is no k6 2.x on this machine; "petstore-harness load smoke" builds one' }
    : { k6, skip: false };
}
