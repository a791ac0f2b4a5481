// Next.js calls `register` once when a server starts, and not during a build.
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { closeOnSignals, service } = await import('./lib/engine.ts')
  await service()
  closeOnSignals()
}
