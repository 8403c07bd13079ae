/** The script as k6 runs it, in this process: on a simulated clock, and against a server without a socket. */
import { compileFunction } from 'node:vm';
import { build } from 'esbuild';
import { conformingDesign } from '../../reference-server/conforming.ts';
import { deviating } from '../../reference-server/deviations/deviation.ts';
import { EVERY_FAULT } from '../../reference-server/deviations/faults/index.ts';
import { EVERY_VARIANT } from '../../reference-server/deviations/variants/index.ts';
import { requestHandler, serviceOf } from '../../reference-server/server.ts';
import { UnsentResponse, unsentRequest } from '../../reference-server/testing/unsent.ts';
import { FOR_K6 } from '../build/bundle.ts';
import type { LoadPlan } from '../lib/messages.ts';
import { seeded } from '../runner/testing/made-results.ts';

const bundled = await build({ ...FOR_K6, format: 'cjs', write: false });
const GLOBALS = ['require', 'module', 'open', '__ENV', '__VU', 'Date', 'Math', 'console'];
const evaluate = compileFunction(bundled.outputFiles[0]?.text ?? '', GLOBALS);

/** What the script exports, and the clients by their names. */
type Script = Readonly<Record<string, (given?: unknown) => unknown>>;

/** What a target answers otherwise, from one answer to another or each so many of them; status 0 is no answer. */
export interface Otherwise {
  readonly from?: number;
  readonly every?: number;
  readonly to?: number;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly without?: string;
  readonly body?: string;
  /** How much later it comes, in milliseconds. */
  readonly later?: number;
}

/** A target by the names of deviations, its latency in milliseconds, and what it answers otherwise. */
export interface SimulatedTarget {
  readonly deviation?: string;
  readonly latency?: number;
  readonly otherwise?: readonly Otherwise[];
  readonly animals?: number;
}

/** The name of a header as k6 spells it. */
const spelled = (name: string) => name.toLowerCase().replace(/\b\w/g, (letter) => letter.toUpperCase());

interface Params {
  readonly headers: Readonly<Record<string, string>>;
  readonly responseType?: string;
}

/** A world for a plan: virtual users come into it one after the other. */
export function simulatedWorld(plan: LoadPlan, start: number, target: SimulatedTarget) {
  const { deviation = '', latency = 8, otherwise = [], animals } = target;
  const clock = { time: start, speed: plan.clock.speed, now: () => clock.time };
  const machine = { now: start };
  const keys = plan.keys.map(({ name, plan, env }) => ({ name, plan, value: `value-of-${env}` }));
  const named = [...EVERY_FAULT, ...EVERY_VARIANT].filter(({ name }) => deviation.split(', ').includes(name));
  const conforming = conformingDesign({ clock, keys });
  const limitsOf: typeof conforming.limitsOf = (key) =>
    plan.keys.find(({ name }) => name === key.name) ?? conforming.limitsOf(key);
  const usual = { ...conforming, limitsOf };
  const design = () =>
    deviating(
      usual,
      named.map((one) => one.deviation),
    );
  const handle = requestHandler(serviceOf(usual, { design, ...(animals === undefined ? {} : { animals }) }), {
    listening: true,
  });
  const requests: { readonly at: number; readonly asked: string; readonly status: number }[] = [];
  const lines: string[] = [];
  const pass = (milliseconds: number) => {
    machine.now += milliseconds;
    clock.time = Math.floor(start + (machine.now - start) * clock.speed);
  };

  function answered(method: string, address: { url: string } | string, body: string, params: Params) {
    const url = new URL(typeof address === 'string' ? address : address.url);
    const headers = Object.entries({ host: url.host, ...params.headers });
    const small = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
    const request = unsentRequest(method, Object.fromEntries(small));
    request.url = url.pathname + url.search;
    const answer = new UnsentResponse(request);
    handle(request, answer);
    request.emit('data', Buffer.from(body));
    request.emit('end');
    if (!answer.isOver) throw new Error('this deviation answers later');
    const count = requests.length + 1;
    const other =
      otherwise.find(
        ({ from = 1, to = count, every = 1 }) => count >= from && count <= to && count % every === 0,
      ) ?? {};
    const { status = answer.statusCode, later = 0 } = other;
    const told = answer.fields.map(([name, value]) => [spelled(name), value] as const);
    const fields: Record<string, string> = { ...Object.fromEntries(told), ...other.headers };
    if (other.without !== undefined) delete fields[other.without];
    const who = keys.find(({ value }) => params.headers['Authorization'] === `Bearer ${value}`)?.name;
    requests.push({
      at: Math.round(machine.now - start),
      asked: `${who} ${method} ${request.url} ${body}`.trim(),
      status,
    });
    // No two answers in a row take as long.
    const duration = latency * (1 + (count % 7) / 10) + later;
    pass(duration);
    return {
      ...{
        status,
        headers: status === 0 ? {} : fields,
        url: url.href,
        request: { method },
        proto: 'HTTP/1.1',
      },
      body:
        params.responseType === 'text' && status > 0
          ? (other.body ?? String(Buffer.concat(answer.pieces)))
          : null,
      ...{ timings: { duration }, error_code: status === 0 ? 1050 : 0 },
    };
  }

  const exec = {
    scenario: { startTime: start, iterationInTest: 0, iterationInInstance: 0 },
    test: { options: { executionSegment: '0:1' } },
  };
  const http = {
    setResponseCallback: (expected: unknown) => lines.push(`expects ${JSON.stringify(expected)}`),
    expectedStatuses: (...expected: unknown[]) => expected,
    url: (...parts: Parameters<typeof String.raw>) => ({ url: String.raw(...parts) }),
    get: (url: string, params: Params) => answered('GET', url, '', params),
    post: (url: string, body: string, params: Params) => answered('POST', url, body, params),
    batch: (all: readonly { method: string; url: string; params: Params }[]) =>
      all.map(({ method, url, params }) => answered(method, url, '', params)),
  };
  const modules = new Map<string, object>([
    ['k6', { sleep: (seconds: number) => pass(seconds * 1000) }],
    ['k6/http', http],
    ['k6/execution', exec],
  ]);
  const random = seeded(11);
  class SimulatedDate extends Date {
    static override now = () => Math.floor(machine.now);
  }
  const env = Object.fromEntries(plan.keys.map((key) => [key.env, `value-of-${key.env}`]));

  /** The script as a virtual user has it. */
  function user(number: number): Script {
    const module: { exports: Script } = { exports: {} };
    const given = [(name: string) => modules.get(name), module, () => JSON.stringify(plan), env, number];
    const globals = [SimulatedDate, Object.create(Math, { random: { value: random } })];
    evaluate(...given, ...globals, { log: (line: string) => lines.push(line) });
    return module.exports;
  }
  return { user, exec, machine, requests, lines, pass };
}
