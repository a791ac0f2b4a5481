// What a file of browser tests begins with: a server on a new ledger, and a Chromium. Apart from `world.ts`, which a script uses too.
import { join } from 'node:path'
import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { launchChromium, ServedLedger, temporaryFolder } from './world.ts'

export function servedInBrowser() {
  const folder = temporaryFolder()
  const server = new ServedLedger(join(folder.path, 'page.db'))
  let browser: Browser | undefined
  beforeAll(async () => {
    ;[browser] = await Promise.all([launchChromium(), server.start()])
  }, 300_000)
  afterAll(async () => {
    await browser?.close()
    await server.kill()
    folder.remove()
  })
  /** It is closed at the end of the test. Default: 1280 by 800 pixels. */
  async function newContext(options: Parameters<Browser['newContext']>[0] = {}): Promise<BrowserContext> {
    const context = await (browser as Browser).newContext({ viewport: { width: 1280, height: 800 }, ...options })
    onTestFinished(() => context.close())
    return context
  }
  return { folder, server, newContext }
}
