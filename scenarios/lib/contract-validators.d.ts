/** Compiled ahead of time from spec/petstore.openapi.yaml by the bundler (runner/bundle.ts). */
declare module 'contract:validators' {
  interface Validator {
    (value: unknown): boolean;
    errors?: readonly { instancePath: string; keyword: string; message?: string }[] | null;
  }
  /** Values of `components.schemas`. Integers of the format int64 beyond 2^53 are left to {@link beyondDoubles}. */
  export const pets: Validator;
  export const pet: Validator;
  export const error: Validator;
  /** Whether a value seen since the last call was an int64 that JSON.parse may have rounded. */
  export function beyondDoubles(): boolean;
}
