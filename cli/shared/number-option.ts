import { InvalidArgumentError } from 'commander';

/** In decimals: JavaScript reads 0x10 and blanks as numbers too. */
const DECIMAL = /^-?\d+(\.\d+)?(e\d{1,3})?$/i;

const parser = (form: RegExp, isMeant: (value: number) => boolean, words: string) => (text: string) => {
  if (form.test(text) && isMeant(Number(text))) return Number(text);
  throw new InvalidArgumentError(`It must be a ${words}.`);
};

/** The parser of an option that is a number. */
export const numberFrom = (from: number, to: number) =>
  parser(DECIMAL, (value) => value >= from && value <= to, `number from ${from} to ${to}`);

/** The parser of an option that is a number above 0. */
export const positive = (most: number) =>
  parser(DECIMAL, (value) => value > 0 && value <= most, `number above 0, at most ${most}`);

/** The parser of an option that is a whole number. */
export const wholeNumber = (from: number, to: number) =>
  parser(/^\d+$/, (value) => value >= from && value <= to, `whole number from ${from} to ${to}`);
