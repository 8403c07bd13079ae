/** Compiled ahead of time from spec/petstore.openapi.yaml by the bundler (build/bundle.ts). */
declare module 'contract:validators' {
  interface Validator<T> {
    (value: unknown): value is T;
    errors?: readonly { instancePath: string; keyword: string; message?: string }[] | null;
  }
  interface Pet {
    readonly id: number;
    readonly name: string;
    readonly categoryId: number;
    readonly status?: string;
  }
  /** Values of `components.schemas`. Integers of the format int64 beyond 2^53 are left to {@link beyondDoubles}. */
  export const pets: Validator<readonly Pet[]>;
  export const pet: Validator<Pet>;
  export const error: Validator<{ readonly status: number }>;
  /** Whether a value seen since the last call was an int64 that JSON.parse may have rounded. */
  export function beyondDoubles(): boolean;
}
