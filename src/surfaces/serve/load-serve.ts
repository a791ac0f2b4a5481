// The server, loaded when somebody serves: the package that its routes are made with is an optional one, and whoever does not serve
// need not have it.
import { ErrandError } from '../../errors.ts'

const packageName = 'hono'

/** @throws ErrandError NOT_OFFERED { package } when it is not installed. */
export async function loadServe(
  load: () => Promise<typeof import('./serve.ts')> = () => import('./serve.ts'),
): Promise<typeof import('./serve.ts')> {
  try {
    return await load()
  } catch (error) {
    if (!isMissing(error)) throw error
    throw new ErrandError(
      'NOT_OFFERED',
      `Serving over HTTP needs the package ${packageName}, which is not installed. Install it with: npm install ${packageName}`,
      { package: packageName },
      error,
    )
  }
}

function isMissing(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return code === 'ERR_MODULE_NOT_FOUND' && typeof message === 'string' && message.includes(`'${packageName}'`)
}
