import { type AnsweredExchange, type Exchange, isAnswered } from '../wire/exchange.ts';
import { answeredPet, listedPets } from '../wire/pets.ts';

const isList = (exchange: AnsweredExchange) => (listedPets(exchange)?.length ?? 0) > 0;

/**
 * Whether the target, or something in front of it, answers requests with the answers of others: a list was answered
 * with an animal, and what asks for an animal with a list. No single mistake of a target does both.
 *
 * @returns one line that says so
 */
export function crossedAnswers(exchanges: readonly Exchange[]): string | undefined {
  const answered = exchanges.filter(isAnswered);
  const animal = answered.find((exchange) => exchange.request.operation === 'listPets' && isAnimal(exchange));
  const list = answered.find(
    (exchange) => /^(createPet|getPet)$/.test(exchange.request.operation) && isList(exchange),
  );
  if (animal === undefined || list === undefined) return undefined;
  const [first, second] = [animal, list].map(({ request }) => `${request.method} ${request.path}`);
  return `answers are mixed up between requests: ${first} was answered with one animal, ${second} with a list`;
}

function isAnimal(exchange: AnsweredExchange): boolean {
  const pet = answeredPet(exchange);
  return pet?.id !== undefined && pet.name !== undefined;
}
