// A board of tasks in layers, each task blocked by two of the layer before, so that they can only be done in order.
import type { Engine } from '../../src/engine/engine-api.ts'

export const layerSize = 60

/** Creates `total` tasks; resolves to the ids of each task's blockers. */
export async function createLayers(engine: Engine, total: number): Promise<Map<string, string[]>> {
  const after = new Map<string, string[]>()
  let above: string[] = []
  for (let made = 0; made < total; made += layerSize) {
    const count = Math.min(layerSize, total - made)
    const blockers = Array.from({ length: count }, (_, n) =>
      above.length === 0 ? [] : [above[n % above.length] as string, above[(n * 7 + 1) % above.length] as string],
    )
    const layer = await engine.create(
      blockers.map((blockedBy, n) => ({
        name: `task ${made + n}`,
        priority: n % 3,
        blockedBy: [...new Set(blockedBy)],
      })),
    )
    for (const [n, task] of layer.entries()) after.set(task.id, [...new Set(blockers[n])])
    above = layer.map((task) => task.id)
  }
  return after
}
