import type { Way } from './exchange-shape.ts';

/** A header that every request bears, for what stands in front of the target. */
export interface AccessHeader {
  readonly name: string;
  readonly value: string;
  /** The variable that holds the value, where it is a secret. */
  readonly env?: string | undefined;
}

/** How a target is reached, beside its address and its keys. */
export interface Access {
  readonly headers: readonly AccessHeader[];
  /** Texts in PEM. */
  readonly tls: {
    /** Authorities to trust in place of the machine's. */
    readonly ca?: string | undefined;
    readonly cert?: string | undefined;
    /** Not encrypted. */
    readonly key?: string | undefined;
    /** The name that the certificate is for, where it is not the address's. */
    readonly servername?: string | undefined;
    readonly rejectUnauthorized?: false;
  };
  /** With its credentials. */
  readonly proxy?: URL | undefined;
  /** Values that enter no record. */
  readonly secrets: readonly string[];
}

/** Nothing stands between. */
export const DIRECT: Access = { headers: [], tls: {}, secrets: [] };

/** The way of an access, before anything was spoken. */
export const wayOf = ({ proxy, tls }: Access = DIRECT): Way => ({
  ...(proxy === undefined ? {} : { proxy: proxy.origin }),
  ...(tls.rejectUnauthorized === false ? { insecure: true } : {}),
});
