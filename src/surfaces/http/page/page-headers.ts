// The security headers of the page and of everything that a browser may display: no external resources, no outgoing requests, no
// framing.

/** Directives that do not fall back to `default-src`. */
const commonDirectives = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** @param scripts allowed sources of scripts, and styles: `'self'`, or hashes of inline ones. */
export function policy({ scripts, styles }: { scripts: string; styles: string }): string {
  return `default-src 'none'; script-src ${scripts}; style-src ${styles}; img-src 'self' data:; connect-src 'self'; ${commonDirectives}`
}

export const guardingHeaders: Record<string, string> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

export const pagePolicy: string = policy({ scripts: "'self'", styles: "'self'" })
