"""One process of TensorFlow's ParameterServerStrategy: first the workers, then the servers, by rank.

Workers and servers wait for orders over gRPC. The first server's process also has the coordinator, which gives each
worker its next step as soon as that has done one: nobody waits for another worker, and gradients may be of parameters
that have changed since.
"""

import hbench_rank


def version(setting):
    import tensorflow_rank

    return tensorflow_rank.version()


class Cluster:
    """The processes of one job, each a server of TensorFlow."""

    def __init__(self, rank, addresses, workers):
        from tensorflow_rank import INTER_OP_THREADS, tf

        spec = tf.train.ClusterSpec({"worker": addresses[:workers], "ps": addresses[workers:]})
        name, index = ("worker", rank) if rank < workers else ("ps", rank - workers)
        # It does not read tf.config, and with one inter-op thread, a pinned process's default, the first step hangs.
        threads = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=INTER_OP_THREADS,
                                           intra_op_parallelism_threads=1)
        self.server = tf.distribute.Server(spec, name, index, "grpc", threads)
        self.resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(spec, rpc_layer="grpc")


def coordinate(order, workers, cluster):
    """Trains on all workers and speaks for them; returns a digest of the final parameters: there is one copy."""
    import tensorflow_rank
    from tensorflow_rank import tf

    case = order["case"]
    strategy = tf.distribute.ParameterServerStrategy(cluster.resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        model = tensorflow_rank.tensorflow_models.make_model(case["workload"])
    ranks = range(workers)
    hbench_rank.report(ranks, "parameters", tensorflow_rank.count(model))

    def replica_step(images, labels):
        loss, gradients = tensorflow_rank.gradients_of(model, images, labels)
        tensorflow_rank.update(model, gradients)
        return loss

    def make_dataset():
        numbers = tf.data.Dataset.range(tensorflow_rank.BATCHES)
        return numbers.map(lambda number: tensorflow_rank.make_batch(case, number)).cache().repeat()

    data = iter(coordinator.create_per_worker_dataset(make_dataset))
    step = tf.function(lambda batches: strategy.run(replica_step, next(batches)))
    steps = hbench_rank.Steps(order, ranks, agree=lambda number: number)
    while steps.go_on():
        # All timed steps are ordered at once, so that no worker waits. A step is what it takes until there is another
        # one for each worker, in the mean: workers end theirs at any time.
        rounds = steps.left()
        coming = [coordinator.schedule(step, (data,)) for _ in range(rounds * workers)]
        loss = sum(float(each.fetch()) for each in coming) / len(coming)
        steps.end(loss, rounds)
    hbench_rank.report(ranks, "loss", loss)
    return tensorflow_rank.digest_of(model)


def train(order, rank, ranks, local_rank):
    import meeting
    import tensorflow_rank

    workers = order["case"]["gpus"]
    others = meeting.Meeting(rank, ranks)
    addresses = others.gather(meeting.free_address())
    tensorflow_rank.set_up()
    cluster = Cluster(rank, addresses, workers)
    others.gather("serves")
    digest = others.gather(coordinate(order, workers, cluster) if rank == workers else "")[workers]
    others.leave()
    return digest


hbench_rank.main(version, train)
