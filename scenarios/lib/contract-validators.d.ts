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
  /** Values of `components.schemas`. What is an int64 they leave open: JSON.parse rounds beyond 2^53. */
  export const pets: Validator<readonly Pet[]>;
  export const pet: Validator<Pet>;
  export const error: Validator<{ readonly status: number }>;
}
