// Preloaded by the processes that tests start, when the suites run on a server: they open ledgers there too.
import { registerHooks } from 'node:module'

const opened = new URL('../../../src/ledger/open-ledger.ts', import.meta.url).href
const replacement = new URL('./open-ledger.ts', import.meta.url).href

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    return found.url === opened ? { ...found, url: replacement } : found
  },
})
