// The headers under which a browser gets the page, and everything else that it may show: nothing comes from elsewhere, nothing goes
// elsewhere, and nobody puts it into a frame.

/** Beside what a policy allows by itself. */
const nowhereElse = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** @param scripts where scripts may come from, and styles: `'self'`, or hashes of what stands in the page itself. */
export function policy({ scripts, styles }: { scripts: string; styles: string }): string {
  return `default-src 'none'; script-src ${scripts}; style-src ${styles}; img-src 'self' data:; connect-src 'self'; ${nowhereElse}`
}

export const guardingHeaders: Record<string, string> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

export const pagePolicy: string = policy({ scripts: "'self'", styles: "'self'" })
