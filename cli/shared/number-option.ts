import { InvalidArgumentError } from 'commander';

/** In decimals: JavaScript reads 0x10 and blanks as numbers too. */
const DECIMAL = /^-?\d+(\.\d+)?(e\d{1,3})?$/i;

/** The parser of an option that is a number. */
export function numberFrom(from: number, to: number) {
  return (text: string): number => {
    const value = Number(text);
    if (DECIMAL.test(text) && value >= from && value <= to) return value;
    throw new InvalidArgumentError(`It is to be a number from ${from} to ${to}.`);
  };
}

/** The parser of an option that is a number above 0. */
export function positive(most: number) {
  return (text: string): number => {
    const value = Number(text);
    if (DECIMAL.test(text) && value > 0 && value <= most) return value;
    throw new InvalidArgumentError(`It is to be a number above 0, at most ${most}.`);
  };
}

/** The parser of an option that is a whole number. */
export function wholeNumber(from: number, to: number) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= from && value <= to) return value;
    throw new InvalidArgumentError(`It is to be a whole number from ${from} to ${to}.`);
  };
}
